import { expect, test } from 'vitest'

import { openPositionJudge } from '../../chaos/judge-positions.ts'

const seen = (offset: number, content: string | null = `state ${offset}`, client = 'one', epoch = 'e1') => ({
  client,
  stationId: 1,
  epoch,
  offset,
  content
})

const rulesOf = (...sightings: ReturnType<typeof seen>[]) => {
  const judge = openPositionJudge()
  return sightings.flatMap(sighting => judge.see(sighting)).map(({ rule }) => rule)
}

test('offsets that increase, skip and repeat with the same content pass', () => {
  expect(rulesOf(seen(1), seen(1), seen(5), seen(5, null), seen(9))).toEqual([])
})

test('an offset that decreases within an epoch fails, for the same client only', () => {
  expect(rulesOf(seen(5), seen(4))).toEqual(['offsets never go back'])
  expect(rulesOf(seen(5), seen(4, null))).toEqual(['offsets never go back'])
  expect(rulesOf(seen(5), seen(4, 'state 4', 'two'))).toEqual([])
  expect(rulesOf(seen(5), seen(4, 'state 4', 'one', 'e2'))).toEqual([])
})

test('a position with two contents fails, whichever clients received them', () => {
  expect(rulesOf(seen(5, 'a'), seen(5, 'b'))).toEqual(['one content for a position'])
  expect(rulesOf(seen(5, 'a'), seen(5, 'b', 'two'))).toEqual(['one content for a position'])
  expect(rulesOf(seen(5, 'a'), seen(5, 'b', 'two', 'e2'))).toEqual([])
})

test('an ended epoch that returns fails', () => {
  const judge = openPositionJudge()
  judge.see(seen(5))
  judge.see(seen(7, 'new', 'one', 'e2'))
  judge.retireOthers(1, 'e2')
  expect(judge.see(seen(8, 'newer', 'one', 'e2'))).toEqual([])
  expect(judge.see(seen(6)).map(({ rule }) => rule)).toEqual(['an epoch never returns'])
  expect(judge.epochs()).toBe(2)
})

test('an invalid position fails', () => {
  expect(rulesOf(seen(Number.NaN))).toEqual(['a position is whole'])
  expect(rulesOf(seen(1, 'a', 'one', ''))).toEqual(['a position is whole'])
})
