import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What another program reads of a file. */
export interface OtherReading {
  readonly error: string
  readonly title: readonly string[]
  readonly artist: readonly string[]
  readonly album: readonly string[]
  readonly seconds: number
}

interface OtherReadings {
  readonly mutagen: OtherReading
  readonly ffprobe: OtherReading
  /** The audio that ffmpeg decodes. */
  readonly decoded: { readonly seconds: number }
}

const nothing: OtherReading = { error: '', title: [], artist: [], album: [], seconds: 0 }
const decodedRate = 8_000

/**
 * Reads files of a folder with mutagen and ffprobe, and decodes them, by file name. Kept beside the corpus: it takes
 * minutes.
 */
export function readWithOthers(
  folder: string,
  names: readonly string[],
  mutagenReader: string
): Readonly<Record<string, OtherReadings>> {
  const kept = join(folder, 'others.json')
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const output = execFileSync('/usr/bin/python3', [mutagenReader, folder], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26
  })
  const mutagen: Record<string, Partial<OtherReading>> = JSON.parse(output)
  const readings = Object.fromEntries(
    names.map(name => {
      const path = join(folder, name)
      return [
        name,
        {
          mutagen: { ...nothing, ...mutagen[name] },
          ffprobe: probe(path),
          decoded: { seconds: decode(path) }
        }
      ]
    })
  )
  writeFileSync(kept, JSON.stringify(readings))
  return readings
}

interface Probed {
  readonly format?: { readonly duration?: string; readonly tags?: Readonly<Record<string, string>> }
  readonly streams?: readonly { readonly tags?: Readonly<Record<string, string>> }[]
}

function probe(path: string): OtherReading {
  const options = ['-v', 'quiet', '-print_format', 'json', '-show_format', '-show_streams', path]
  const { status, stdout } = spawnSync('ffprobe', options, { encoding: 'utf8' })
  if (status !== 0) return { ...nothing, error: 'invalid data' }
  const { format, streams = [] }: Probed = JSON.parse(stdout)
  const tags = new Map<string, string>()
  for (const [name, text] of [
    ...Object.entries(format?.tags ?? {}),
    ...Object.entries(streams[0]?.tags ?? {})
  ])
    tags.set(name.toLowerCase(), text)
  const list = (name: string) => (tags.has(name) ? [tags.get(name) ?? ''] : [])
  return {
    error: '',
    title: list('title'),
    artist: list('artist'),
    album: list('album'),
    seconds: Number(format?.duration ?? 0)
  }
}

function decode(path: string): number {
  const options = [
    '-v',
    'quiet',
    '-i',
    path,
    '-map',
    '0:a:0',
    '-ac',
    '1',
    '-ar',
    String(decodedRate),
    '-f',
    's16le',
    '-'
  ]
  const { stdout } = spawnSync('ffmpeg', options, { maxBuffer: 2 ** 28 })
  return stdout.length / 2 / decodedRate
}
