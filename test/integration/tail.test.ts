import { appendFile, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { openFileTail, type FileTailLimits } from '../../src/radio/hls/file-tail.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

/** Opens a followed file; `read` returns the new lines, or null without a file. */
async function openLog(before: string | null, limits?: FileTailLimits) {
  const path = join(await scratchFolder(), 'access.log')
  if (before !== null) await writeFile(path, before)
  const tail = openFileTail(path, limits)
  return {
    path,
    add: (text: string) => appendFile(path, text),
    read: async () => {
      const lines: string[] = []
      const isThere = await tail.readLines(line => void lines.push(line))
      return isThere ? lines : null
    },
    [Symbol.asyncDispose]: () => tail.close()
  }
}

describe('a followed file', () => {
  test('returns lines added after the first read, once they are complete', async () => {
    await using log = await openLog('old\n')
    expect(await log.read()).toEqual([])
    await log.add('one\ntw')
    expect(await log.read()).toEqual(['one'])
    await log.add('o\r\n\nthree\n')
    expect(await log.read()).toEqual(['two', '', 'three'])
    expect(await log.read()).toEqual([])
  })

  test('may be a link to another file in its folder, and to no other file', async () => {
    await using log = await openLog(null)
    const folder = dirname(log.path)
    expect(await log.read()).toBeNull()
    await writeFile(join(folder, 'today.log'), 'one\n')
    await symlink('today.log', log.path)
    expect(await log.read()).toEqual(['one'])
    await using linked = await openLog(null)
    await symlink('/etc/passwd', linked.path)
    await expect(linked.read()).rejects.toThrow('leads out of the folders in which it must lie')
  })

  test('is read from the start if it appears later', async () => {
    await using log = await openLog(null)
    expect(await log.read()).toBeNull()
    await log.add('one\n')
    expect(await log.read()).toEqual(['one'])
  })

  test('is followed after a rename, until its successor has content', async () => {
    await using log = await openLog('')
    await log.read()
    await rename(log.path, `${log.path}.1`)
    await appendFile(`${log.path}.1`, 'still there\n')
    expect(await log.read()).toEqual(['still there'])
    await writeFile(log.path, '')
    await appendFile(`${log.path}.1`, 'last\n')
    expect(await log.read()).toEqual(['last'])
    await appendFile(`${log.path}.1`, 'very last\n')
    await log.add('first of the next\n')
    expect(await log.read()).toEqual(['very last', 'first of the next'])
    await log.add('second\n')
    expect(await log.read()).toEqual(['second'])
  })

  test('is read from the start after truncation', async () => {
    await using log = await openLog('')
    await log.read()
    await log.add('one\nhalf a')
    expect(await log.read()).toEqual(['one'])
    await truncate(log.path, 0)
    await log.add('two\n')
    expect(await log.read()).toEqual(['two'])
  })

  test('may be deleted and created again', async () => {
    await using log = await openLog('')
    await log.read()
    await rm(log.path)
    expect(await log.read()).toEqual([])
    await log.add('back\n')
    expect(await log.read()).toEqual(['back'])
  })

  test('skips only lines that are too long', async () => {
    await using log = await openLog('', { lineBytes: 10, readBytes: 1_000_000 })
    await log.read()
    await log.add(`short\n${'x'.repeat(11)}\n0123456789\n${'y'.repeat(200_000)}`)
    expect(await log.read()).toEqual(['short', '0123456789'])
    await log.add('y\nnext\n')
    expect(await log.read()).toEqual(['next'])
  })

  test('returns the newest lines if more was added than is read at once', async () => {
    await using log = await openLog('', { lineBytes: 100, readBytes: 1_000 })
    await log.read()
    await log.add(Array.from({ length: 1_000 }, (_, n) => `line ${n}\n`).join(''))
    const lines = (await log.read()) ?? []
    expect(lines.length).toBeGreaterThan(90)
    expect(lines.length).toBeLessThan(120)
    expect([lines[0], lines.at(-1)]).toEqual([`line ${1_000 - lines.length}`, 'line 999'])
  })

  test('returns every line once, wherever the reads end', async () => {
    await using log = await openLog('')
    await log.read()
    const written: string[] = []
    const read: string[] = []
    for (let round = 0; round < 20; round++) {
      const lines = Array.from({ length: 700 }, (_, n) => `ü${'.'.repeat((n * 37 + round) % 400)}${round}`)
      written.push(...lines)
      const bytes = Buffer.from(lines.map(line => `${line}\n`).join(''))
      const half = round * 1_000 + 1
      await appendFile(log.path, bytes.subarray(0, half))
      read.push(...((await log.read()) ?? []))
      await appendFile(log.path, bytes.subarray(half))
    }
    read.push(...((await log.read()) ?? []))
    expect(read).toEqual(written)
  })

  test('must be a regular file', async () => {
    await using log = await openLog(null)
    await mkdir(log.path)
    await expect(log.read()).rejects.toThrow('is not a regular file')
    await rm(log.path, { recursive: true })
    await log.add('old\n')
    expect(await log.read()).toEqual([])
    await log.add('new\n')
    expect(await log.read()).toEqual(['new'])
  })
})
