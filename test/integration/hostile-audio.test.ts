import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { readAudioFileInThread } from '../../src/library/media/read-in-thread.ts'
import { UnusableFileError } from '../../src/library/media/unusable-file.ts'
import { hostileFiles, sparseFiles } from '../support/hostile-audio.ts'
import { scratchFolder } from '../support/scratch-folder.ts'
import { isDeep } from '../support/tier.ts'
import { patience } from '../support/wait.ts'

const files = hostileFiles()
/** Larger ones take seconds each. */
const quickBytes = 128 * 1024
const readFiles = isDeep
  ? [...files, ...sparseFiles()]
  : files.filter(({ bytes }) => bytes.length <= quickBytes)

test('there are many hostile files of different names', () => {
  expect(new Set(files.map(({ name }) => name)).size).toBe(files.length)
  expect(files.length).toBeGreaterThan(132)
})

test(
  'each hostile file ends in at most 10 seconds, and the thread survives',
  { timeout: 300_000 },
  async () => {
    const folder = await scratchFolder()
    const problems: string[] = []
    for (const { name, bytes, sparseBytes } of readFiles) {
      const path = join(folder, 'hostile.mp3')
      await writeFile(path, bytes)
      if (sparseBytes !== undefined) await truncate(path, sparseBytes)
      const startedAt = performance.now()
      const outcome = await readAudioFileInThread({ path, realRoots: [folder], name: 'hostile' }).catch(
        (error: unknown) => error
      )
      const ms = performance.now() - startedAt
      // The thread was lost if there is a cause: it had no more memory.
      const isHarmless =
        !(outcome instanceof Error) || (outcome instanceof UnusableFileError && outcome.cause === undefined)
      if (!isHarmless) problems.push(`${name}: ${String(outcome)}`)
      if (ms > 10_000 * patience) problems.push(`${name}: ${Math.round(ms)} ms`)
    }
    expect(problems).toEqual([])
  }
)
