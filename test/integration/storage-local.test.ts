import { execFile } from 'node:child_process'
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { describeCopyError } from '../../src/commands/import/take-in.ts'
import { FileExistsError } from '../../src/library/storage/file-store.ts'
import { openLocalFiles } from '../../src/library/storage/local-files.ts'
import { assertLocalFolder, measureLocalFolder } from '../../src/library/storage/local.ts'
import { toFileApiError } from '../../src/library/uploads/media-store.ts'
import { resolveInsideRoots } from '../../src/platform/runtime/contained-files.ts'
import { startChurn } from '../support/churn.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { sized } from '../support/tier.ts'

const { signal } = new AbortController()
const nobody = 65_534

test('the sizes of all regular files below a folder are summed up', async () => {
  await using folder = await openTempFolder()
  const inner = join(folder.path, 'a', 'b', 'c')
  await mkdir(inner, { recursive: true })
  await writeFile(join(folder.path, 'one'), Buffer.alloc(1_001))
  await writeFile(join(folder.path, 'a', '.hidden'), Buffer.alloc(20))
  await writeFile(join(inner, 'empty'), '')
  await writeFile(join(inner, 'large'), '')
  await truncate(join(inner, 'large'), 5 * 1024 ** 3)
  await Promise.all(
    Array.from({ length: 100 }, async (_, at) => writeFile(join(folder.path, 'a', `${at}`), Buffer.alloc(at)))
  )
  const usage = await measureLocalFolder(folder.path, signal)
  expect(usage.usedBytes).toBe(5n * 1024n ** 3n + 1_021n + 4_950n)
  expect(usage).toMatchObject({ files: 104, skipped: 0 })
  expect(usage.freeBytes).toBeGreaterThan(0n)
})

test('names that are not UTF-8 are measured', async () => {
  await using folder = await openTempFolder()
  const latin = Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0x42, 0xf6])])
  await mkdir(latin)
  await writeFile(Buffer.concat([latin, Buffer.from([0x2f, 0xe4])]), 'seven b')
  expect(await measureLocalFolder(folder.path, signal)).toMatchObject({ usedBytes: 7n, files: 1, skipped: 0 })
})

test('links and pipes in a folder are not counted, a link to the folder is followed', async () => {
  await using folder = await openTempFolder()
  const [files, outside, way] = ['files', 'outside', 'way'].map(name => join(folder.path, name))
  if (files === undefined || outside === undefined || way === undefined) throw new Error('three names')
  await Promise.all([mkdir(files), mkdir(outside)])
  await writeFile(join(outside, 'much'), Buffer.alloc(5_000))
  await writeFile(join(files, 'little'), Buffer.alloc(5))
  await symlink(outside, join(files, 'to-folder'))
  await symlink(join(outside, 'much'), join(files, 'to-file'))
  await symlink('.', join(files, 'round-and-round'))
  await promisify(execFile)('mkfifo', [join(files, 'pipe')])
  await symlink(files, way)
  expect(await measureLocalFolder(way, signal)).toMatchObject({ usedBytes: 5n, files: 1, skipped: 0 })
})

test('a missing folder is empty and has free space', async () => {
  await using folder = await openTempFolder()
  const missing = join(folder.path, 'not', 'yet')
  const usage = await measureLocalFolder(missing, signal)
  expect(usage).toMatchObject({ usedBytes: 0n, files: 0, skipped: 0 })
  expect(usage.freeBytes).toBeGreaterThan(0n)
  await expect(assertLocalFolder(missing, signal)).rejects.toMatchObject({ reason: 'no_folder' })
})

test('a file is not a folder', async () => {
  await using folder = await openTempFolder()
  const file = join(folder.path, 'file')
  await writeFile(file, '')
  await expect(assertLocalFolder(file, signal)).rejects.toMatchObject({ reason: 'not_a_folder' })
  await expect(measureLocalFolder(file, signal)).rejects.toMatchObject({ reason: 'not_a_folder' })
  await expect(assertLocalFolder(folder.path, signal)).resolves.toBeUndefined()
})

test('an unreadable folder is skipped, unless it is the location itself', async () => {
  await using folder = await openTempFolder()
  const closed = join(folder.path, 'closed')
  await mkdir(closed)
  await writeFile(join(closed, 'unseen'), Buffer.alloc(100))
  await writeFile(join(folder.path, 'seen'), Buffer.alloc(10))
  const namesOnly = join(folder.path, 'names-only')
  await mkdir(namesOnly)
  await chmod(closed, 0)
  await chmod(namesOnly, 0o644)
  await asOrdinaryUser(async () => {
    expect(await measureLocalFolder(folder.path, signal)).toMatchObject({
      usedBytes: 10n,
      files: 1,
      skipped: 1
    })
    await expect(measureLocalFolder(closed, signal)).rejects.toMatchObject({ reason: 'denied' })
    await expect(assertLocalFolder(closed, signal)).rejects.toMatchObject({ reason: 'denied' })
    await expect(assertLocalFolder(namesOnly, signal)).rejects.toMatchObject({ reason: 'denied' })
    expect(await resolveInsideRoots(join(closed, 'x'), [folder.path])).toBeNull()
  })
  await Promise.all([chmod(closed, 0o700), chmod(namesOnly, 0o700)])
})

test('a folder that is created meanwhile does not lead out of its roots', async () => {
  await using folder = await openTempFolder()
  for (let round = 0; round < sized({ quick: 300, deep: 3_000 }); round++) {
    const path = join(folder.path, `${round}`)
    const files = Array.from({ length: 8 }, (_, index) => join(path, `${index}.mp3`))
    const resolving = Promise.all(files.map(file => resolveInsideRoots(file, [folder.path])))
    for (let turn = 0; turn < round % 8; turn++) await nextTurn()
    await mkdir(path)
    expect(await resolving).toEqual(files)
  }
})

test('files that vanish are not counted', async () => {
  await using folder = await openTempFolder()
  await writeFile(join(folder.path, 'stays'), Buffer.alloc(7))
  await using _ = startChurn(join(folder.path, 'inner'))
  const counted = new Set<number>()
  for (let round = 0; round < sized({ quick: 100, deep: 300 }); round++) {
    const { usedBytes, files, skipped } = await measureLocalFolder(folder.path, signal)
    expect(skipped).toBe(0)
    expect(usedBytes).toBeGreaterThanOrEqual(7n)
    expect(usedBytes).toBeLessThanOrEqual(47n)
    counted.add(files)
  }
  // Otherwise no file vanished.
  expect(counted.size).toBeGreaterThan(3)
})

test('a measurement ends on timeout and at shutdown', async () => {
  const tooLate = AbortSignal.abort(new DOMException('late', 'TimeoutError'))
  await expect(measureLocalFolder('/', tooLate)).rejects.toMatchObject({ reason: 'timed_out' })
  await expect(assertLocalFolder('/', tooLate)).rejects.toMatchObject({ reason: 'timed_out' })
  const stop = new AbortController()
  const measuring = measureLocalFolder('/', stop.signal)
  stop.abort(new Error('shutdown'))
  await expect(measuring).rejects.toThrow('shutdown')
})

test('links that lead out of the allowed folders are refused', async () => {
  await using folder = await openTempFolder()
  const path = (name: string) => join(folder.path, name)
  await Promise.all([mkdir(path('allowed/music'), { recursive: true }), mkdir(path('outside'))])
  await symlink(path('allowed'), path('root'))
  await symlink(path('outside'), path('allowed/out'))
  await symlink(path('outside/not-yet'), path('allowed/to-nowhere'))
  await symlink(path('allowed/circle'), path('allowed/circle'))
  await symlink('music', path('allowed/in'))
  const isInside = async (name: string) =>
    (await resolveInsideRoots(path(name), ['/nowhere', path('root')])) !== null

  for (const name of ['root', 'root/music', 'root/new/deep', 'root/in', 'root/in/new', 'root/..music']) {
    expect([name, await isInside(name)]).toEqual([name, true])
  }
  for (const name of [
    'root/out',
    'root/out/new',
    'root/to-nowhere',
    'root/to-nowhere/new',
    'root/circle',
    'outside',
    'rooted',
    // The target of the root is not itself an allowed folder.
    'allowed/music'
  ]) {
    expect([name, await isInside(name)]).toEqual([name, false])
  }
})

/** Root may read everything, so refusals are tested as another user. */
async function asOrdinaryUser(action: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) return action()
  process.seteuid?.(nobody)
  try {
    await action()
  } finally {
    process.seteuid?.(0)
  }
}

test('a name that the file system cannot store is no path that leads out of the folder', async () => {
  await using folder = await openTempFolder()
  const files = openLocalFiles(folder.path)
  const path = `${'x'.repeat(252)}.mp3`
  expect(await files.stat(path)).toBeNull()
  const source = join(folder.path, 'source')
  await writeFile(source, 'x')
  const error = await files.put(source, path, 'token').catch((thrown: unknown) => thrown)
  expect(describeCopyError(error)).toBe('its name is too long for the media storage')
  expect(toFileApiError(error)).toMatchObject({ message: 'path is too long for the media storage.' })
  await writeFile(join(folder.path, 'file'), '')
  await expect(files.put(source, 'file/x', 'token')).rejects.toThrow(FileExistsError)
})
