import { expect, test } from 'vitest'

import { groupListenersByStream } from '../../../src/radio/hls/hls-streams.ts'

const streams = [
  { id: 1, name: '/radio.mp3' },
  { id: 2, name: '/radio.aac' },
  { id: 3, name: '/night/low' },
  { id: 4, name: '/radio' }
]
const seenSince = (sinceMs: number) => ({ address: '203.0.113.1', agent: 'VLC', sinceMs, atMs: 9 })
const idsOf = (variant: string, of = streams) => [
  ...groupListenersByStream(of, new Map([[variant, new Map([['a', seenSince(0)]])]])).keys()
]

test.for<[variant: string, ids: number[]]>([
  ['radio.mp3', [1]],
  ['radio.aac', [2]],
  ['radio', [4]],
  ['night/low', [3]],
  ['low', []],
  ['radio.ogg', []],
  ['Radio', []]
])('the variant %s belongs to its stream', ([variant, ids]) => {
  expect(idsOf(variant)).toEqual(ids)
})

test('a name that matches two streams without their extensions belongs to the first', () => {
  expect(idsOf('radio', streams.slice(0, 2))).toEqual([1])
})

test('a client that fetches both names of a stream is one listener', () => {
  const variants = new Map([
    ['radio.mp3', new Map([1, 2].map(n => [`listener ${n}`, seenSince(n)]))],
    ['radio', new Map([2, 3].map(n => [`listener ${n}`, seenSince(n + 5)]))]
  ])
  const [seen] = groupListenersByStream(streams.slice(0, 1), variants).values()
  expect(Object.fromEntries(seen ?? [])).toEqual({
    'listener 1': seenSince(1),
    'listener 2': seenSince(2),
    'listener 3': seenSince(8)
  })
})
