/**
 * Reads the corpus of tags and lengths with this program, mutagen and ffprobe, and writes what differs to
 * `docs/tags.md`:
 *
 *     node scripts/run.mjs test/by-hand/tag-corpus/main.ts [--folder FOLDER] [--older AUDIO_FILE_TS] [--page FILE]
 *
 * Generates the corpus unless the folder has one; needs the programs that `generate.py` names, and ffprobe. `--older`
 * is `src/library/media/audio-file.ts` of another release, with whose texts those of this one are compared. Exits with
 * 1 if this program reads a file differently than expected.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

import { readAudioFile } from '../../../src/library/media/audio-file.ts'
import { type Expected, findDifferences, type Reading } from './differences.ts'
import { type OtherReading, readWithOthers } from './others.ts'

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: join(mkdtempSync(join(tmpdir(), 'tag-corpus-')), 'corpus') },
    older: { type: 'string' },
    page: { type: 'string', default: 'docs/tags.md' }
  }
})
const { folder } = values
const here = import.meta.dirname
if (!existsSync(join(folder, 'manifest.json')))
  execFileSync('/usr/bin/python3', [join(here, 'generate.py'), folder], { stdio: 'inherit' })

const empty: Reading = {
  error: '',
  title: '',
  artist: '',
  artists: [],
  album: '',
  genre: '',
  lyrics: '',
  durationMs: 0,
  cues: { amplifyDb: null },
  tags: new Map(),
  cover: null
}

interface Case {
  readonly reason: string
  readonly expected: Expected
}
const manifest: Record<string, Case> = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
const others = readWithOthers(folder, Object.keys(manifest), join(here, 'mutagen_reader.py'))
const rows: string[] = []
let failures = 0
for (const [name, { reason, expected }] of Object.entries(manifest)) {
  const ours = await read(readAudioFile, name)
  const other = others[name]
  if (!other) throw new Error(`nothing else reads ${name}`)
  const wanted = { seconds: other.decoded.seconds, ...expected }
  const own = findDifferences(ours, wanted)
  if (own.length > 0) {
    failures += 1
    print(`${name}: ${own.join('; ')}`)
  }
  const differences = [
    ['mutagen', other.mutagen],
    ['ffprobe', other.ffprobe]
  ] as const
  for (const [program, reading] of differences) {
    const found = compare(ours, reading)
    if (found !== '') rows.push(`| \`${name}\` | ${program} | ${found} | ${reason} |`)
  }
}
print(
  `${Object.keys(manifest).length} files, ${failures} read differently than expected, ${rows.length} differences`
)
if (values.older !== undefined) await compareReleases(values.older)
writePage()
process.exitCode = failures === 0 ? 0 : 1

type Reader = (path: string, roots: readonly string[], name: string) => Promise<Partial<Reading>>

async function read(reader: Reader, name: string): Promise<Reading> {
  const path = join(folder, name)
  try {
    const file = await reader(path, [folder], name)
    return { ...empty, ...file, error: '' }
  } catch (error) {
    return { ...empty, error: error instanceof Error ? error.message : String(error) }
  }
}

/** What another program reads differently, in words of the table. */
function compare(ours: Reading, other: OtherReading): string {
  if (other.error !== '') return `cannot read the file (${other.error})`
  const found: string[] = []
  for (const name of ['title', 'artist', 'album'] as const) {
    const own = name === 'title' && ours.title === '' ? [] : [ours[name]]
    const listed =
      name === 'artist' && ours.artists.length > 0 ? [ours.artists.join('; '), ours.artists.join(';')] : own
    const text = other[name].join('; ')
    const isTitleOfFile = name === 'title' && text === ''
    if (!isTitleOfFile && ![...own, ...listed].includes(text))
      found.push(`${name} ${quote(text)}, not ${quote(listed[0] ?? '')}`)
  }
  if (Math.abs(other.seconds - ours.durationMs / 1_000) > 0.15)
    found.push(`${other.seconds.toFixed(1)} s, not ${(ours.durationMs / 1_000).toFixed(1)} s`)
  return found.join('; ')
}

function quote(text: string): string {
  return text === '' ? 'none' : `"${text.replaceAll('|', '\\|').replace(/[\p{Cc}\uFFFD]/gu, '\u00B7')}"`
}

/** Prints the files whose displayed texts another release reads differently; song ids are derived from them. */
async function compareReleases(path: string): Promise<void> {
  const older: { readAudioFile: Reader } = await import(pathToFileURL(resolve(path)).href)
  for (const name of Object.keys(manifest)) {
    const [before, after] = [await read(older.readAudioFile, name), await read(readAudioFile, name)]
    const changed = (['error', 'artist', 'title', 'album', 'genre', 'durationMs'] as const)
      .filter(key => before[key] !== after[key])
      .map(key => `${key} ${JSON.stringify(before[key])} -> ${JSON.stringify(after[key])}`)
    if (changed.length > 0) print(`changed: ${name}: ${changed.join(', ')}`)
  }
}

/** Replaces the table of the page, from its heading on. */
function writePage(): void {
  const text = readFileSync(values.page, 'utf8')
  const heading = '## Read differently by other programs'
  const at = text.indexOf(heading)
  if (at < 0) throw new Error(`${values.page} has no heading "${heading}"`)
  const intro = `Of ${Object.keys(manifest).length} files of the corpus, these are read differently. Durations differ by more than 0.15 seconds.`
  const table = `| file | program | reads | why |\n|---|---|---|---|\n${rows.join('\n')}`
  writeFileSync(values.page, `${text.slice(0, at)}${heading}\n\n${intro}\n\n${table}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
