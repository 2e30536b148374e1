import { expect, test } from 'vitest'

import { groupByStream } from '../../../src/broadcast/hls/hls-streams.ts'

const streams = [
  { id: 1, name: '/radio.mp3' },
  { id: 2, name: '/radio.aac' },
  { id: 3, name: '/night/low' },
  { id: 4, name: '/radio' }
]
const idsOf = (variant: string, of = streams) => [...groupByStream(of, new Map([[variant, ['a']]])).keys()]

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
    ['radio.mp3', ['a', 'b']],
    ['radio', ['b', 'c']]
  ])
  expect(groupByStream(streams.slice(0, 1), variants)).toEqual(new Map([[1, new Set(['a', 'b', 'c'])]]))
})
