import { expect, test } from 'vitest'

import { splitBatchPaths, describeDeletion } from '../../../../../web/dashboard/media/batch-requests.ts'
import { splitRowKeys } from '../../../../../web/dashboard/media/library-row.ts'
import {
  moveFocus,
  noSelection,
  rangeFromAnchor,
  retainKnownKeys,
  selectOnly,
  selectRange,
  toggleRow
} from '../../../../../web/dashboard/media/selection.ts'

test('a click selects one row, Ctrl adds and removes rows', () => {
  const one = selectOnly('media:a', 3)
  expect([...one.keys]).toEqual(['media:a'])
  const two = toggleRow(one, 'media:b', 7)
  expect([...two.keys]).toEqual(['media:a', 'media:b'])
  expect([...toggleRow(two, 'media:a', 3).keys]).toEqual(['media:b'])
  expect([...one.keys]).toEqual(['media:a'])
})

test('Shift extends from the anchor in both directions, and the anchor stays', () => {
  const anchored = selectOnly('media:e', 5)
  expect(rangeFromAnchor(anchored, 8)).toEqual([5, 8])
  const extended = selectRange(anchored, ['media:e', 'media:f'])
  expect(rangeFromAnchor(extended, 2)).toEqual([2, 5])
})

test('rows that were deleted by others leave the selection', () => {
  const both = toggleRow(selectOnly('media:a', 3), 'media:b', 7)
  expect([...retainKnownKeys(both, new Set(['media:b', 'media:c'])).keys]).toEqual(['media:b'])
  expect(retainKnownKeys(both, new Set(['media:a', 'media:b']))).toBe(both)
})

test('keys move the focus within the list', () => {
  expect(moveFocus('ArrowDown', 0, 10, 5)).toBe(1)
  expect(moveFocus('ArrowUp', 0, 10, 5)).toBe(0)
  expect(moveFocus('PageDown', 3, 10, 5)).toBe(8)
  expect(moveFocus('End', 3, 50_000, 5)).toBe(49_999)
  expect(moveFocus('Home', 3, 10, 5)).toBe(0)
  expect(moveFocus('x', 3, 10, 5)).toBeNull()
  expect(moveFocus('End', 0, 0, 5)).toBeNull()
})

test('a selection is sent as paths of files and folders, in requests of bounded size, folders first', () => {
  expect(splitRowKeys(['media:a: b/c.mp3', 'directory:media:x'])).toEqual({
    files: ['a: b/c.mp3'],
    dirs: ['media:x']
  })
  const keys = Array.from({ length: 1_201 }, (_, index) => `media:${index}.mp3`)
  const requests = splitBatchPaths(['media:first.mp3', 'directory:old', ...keys])
  expect(requests[0]).toEqual({ files: [], dirs: ['old'] })
  expect(requests.slice(1).map(({ files }) => files.length)).toEqual([
    ...Array.from({ length: 12 }, () => 100),
    2
  ])
  expect(splitBatchPaths(noSelection.keys)).toEqual([])
})

test('a deletion says what is lost', () => {
  expect(describeDeletion(new Set(['media:a', 'directory:b']), 12)).toContain(
    '1 file and 1 folder with everything in it (12 songs)'
  )
})
