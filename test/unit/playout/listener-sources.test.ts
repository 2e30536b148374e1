import { expect, test } from 'vitest'

import { matchCounts, type ListenerSource, sumOf } from '../../../src/playout/listeners/sources.ts'

const sources: ListenerSource[] = [
  { kind: 'mounts', id: 7, path: '/radio.mp3', key: 'mount:7', total: 1, unique: 1 },
  { kind: 'hls', id: 7, path: '/radio.mp3', key: 'hls:7', total: 2, unique: 2 },
  {
    kind: 'remotes',
    id: 7,
    path: 'https://relay.example.com/radio',
    key: 'remote:7',
    total: 3,
    unique: 2
  }
]
const count = { total: 9, unique: 8 }

test('sources are named by id or path, and an HLS stream differs from its mount', () => {
  const { matched, problems } = matchCounts(sources, {
    mounts: [{ path: '/radio.mp3', ...count }],
    remotes: [{ path: 'https://relay.example.com/radio', ...count }],
    hls: [{ id: 7, ...count }]
  })
  expect(matched.map(({ source }) => source.key)).toEqual(['mount:7', 'remote:7', 'hls:7'])
  expect(problems).toEqual([])
})

test('an unknown or repeated source is an error, and its first count is used', () => {
  const { matched, problems } = matchCounts(sources, {
    mounts: [
      { id: 7, ...count },
      { path: '/radio.mp3', total: 1, unique: 1 },
      { path: '/other.mp3', ...count }
    ],
    remotes: [],
    hls: []
  })
  expect(matched).toEqual([{ source: sources[0], count: { id: 7, ...count } }])
  expect(problems.map(({ field, code }) => [field, code])).toEqual([
    ['mounts.1.path', 'duplicate'],
    ['mounts.2.path', 'not_found']
  ])
})

test('the count of a station is the sum over its sources, up to the maximum', () => {
  expect(sumOf(sources)).toEqual({ total: 6, unique: 5 })
  expect(sumOf(Array.from({ length: 30 }, () => ({ total: 100_000_000, unique: 1 })))).toEqual({
    total: 2_147_483_647,
    unique: 30
  })
})
