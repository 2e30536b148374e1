import { expect, test, vi } from 'vitest'

import { arrangeEntries } from '../../../src/api/playlists/playlist-entries.ts'
import { ApiError } from '../../../src/platform/runtime/errors.ts'

const entries = Array.from({ length: 3_000 }, (_, index) => ({
  id: index + 1,
  mediaId: (index % 2_000) + 10
}))

test('entries of a song keep their order, and those that are not listed follow', async () => {
  const arranged = await arrangeEntries(entries.slice(0, 2_002), [11, 10, 11])
  expect(arranged.slice(0, 5)).toEqual([2, 1, 2_002, 3, 4])
  expect(new Set(arranged).size).toBe(2_002)
})

test('others run while thousands of entries are arranged', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 5))
  let turns = 0
  let turn = setImmediate(function count() {
    turns++
    turn = setImmediate(count)
  })
  try {
    const arranged = await arrangeEntries(
      entries,
      entries.map(({ mediaId }) => mediaId)
    )
    expect(arranged).toHaveLength(entries.length)
    // Two entries in a time slice, in each of the three passes.
    expect(turns).toBeGreaterThan(entries.length)
  } finally {
    clearImmediate(turn)
    clock.mockRestore()
  }
})

test('of thousands of wrong songs, the first hundred are named', async () => {
  const error = await arrangeEntries(
    [],
    entries.map(({ mediaId }) => mediaId)
  ).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ApiError)
  expect(error instanceof ApiError && error.extraData['errors']).toHaveLength(100)
})
