import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readAudioFile } from '../../src/library/media/audio-file.ts'
import { type Expected, findDifferences } from '../by-hand/tag-corpus/differences.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const python = '/usr/bin/python3'
const hasPrograms =
  existsSync(python) &&
  spawnSync(python, ['-c', 'import mutagen']).status === 0 &&
  ['ffmpeg', 'flac'].every(program => spawnSync(program, ['-version']).error === undefined)

test.runIf(hasPrograms)(
  'each file of the corpus of tags is read as it was written',
  { timeout: 300_000 },
  async () => {
    const folder = join(await scratchFolder(), 'corpus')
    const script = new URL('../by-hand/tag-corpus/generate.py', import.meta.url).pathname
    execFileSync(python, [script, folder], { stdio: 'ignore' })
    const text = await readFile(join(folder, 'manifest.json'), 'utf8')
    const manifest: Record<string, { readonly expected: Expected }> = JSON.parse(text)
    const problems: string[] = []
    for (const [name, { expected }] of Object.entries(manifest)) {
      const file = await readAudioFile(join(folder, name), [folder], name)
      problems.push(
        ...findDifferences({ ...file, error: '' }, expected).map(problem => `${name}: ${problem}`)
      )
    }
    expect(problems).toEqual([])
  }
)
