import { array, assert, asyncProperty, integer, letrec, maxSafeNat, nat, oneof, record } from 'fast-check'
import { expect, test } from 'vitest'

import { sumFolderTree } from '../../../../src/library/storage/walk.ts'

interface Tree {
  bytes: number
  skipped: number
  inner: Tree[]
}

const own = { bytes: maxSafeNat(), skipped: nat(2) }
const { tree } = letrec<{ tree: Tree }>(tie => ({
  tree: oneof(
    { maxDepth: 5 },
    record({ ...own, inner: array(tie('tree'), { maxLength: 0 }) }),
    record({ ...own, inner: array(tie('tree'), { maxLength: 4 }) })
  )
}))

const { signal } = new AbortController()

test('a whole tree is summed up, within the concurrency limit', async () => {
  await assert(
    asyncProperty(tree, integer({ min: 1, max: 4 }), async (top, concurrency) => {
      let running = 0
      let most = 0
      const read = async (folder: Tree) => {
        most = Math.max(most, (running += 1))
        await Promise.resolve()
        running -= 1
        return { usedBytes: BigInt(folder.bytes), files: 1, folders: folder.inner, skipped: folder.skipped }
      }
      expect(await sumFolderTree(top, read, concurrency, signal)).toEqual(sum(top))
      expect(most).toBeLessThanOrEqual(concurrency)
      expect(running).toBe(0)
    })
  )
})

test('an error of a read ends the walk', async () => {
  const read = async (depth: number) => {
    if (depth === 3) throw new Error('no further')
    return { usedBytes: 1n, files: 1, folders: [depth + 1, depth + 1], skipped: 0 }
  }
  await expect(sumFolderTree(0, read, 2, signal)).rejects.toThrow('no further')
})

test('a walk of an endless tree ends when the signal is aborted', async () => {
  const stop = new AbortController()
  let folders = 0
  const read = async (folder: number) => {
    folders += 1
    if (folders === 100) stop.abort(new Error('enough'))
    return { usedBytes: 1n, files: 1, folders: [folder, folder], skipped: 0 }
  }
  await expect(sumFolderTree(0, read, 2, stop.signal)).rejects.toThrow('enough')
  expect(folders).toBeLessThanOrEqual(102)
})

function sum(top: Tree): { usedBytes: bigint; files: number; skipped: number } {
  const total = { usedBytes: BigInt(top.bytes), files: 1, skipped: top.skipped }
  for (const inner of top.inner.map(sum)) {
    total.usedBytes += inner.usedBytes
    total.files += inner.files
    total.skipped += inner.skipped
  }
  return total
}
