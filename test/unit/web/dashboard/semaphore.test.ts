import { expect, test } from 'vitest'

import { noteAnswer, isWorthAsking } from '../../../../web/dashboard/stations/report-refusals.ts'
import { openSemaphore } from '../../../../web/dashboard/stations/semaphore.ts'

test('so many have a seat, and whoever gives one up lets the next one in', () => {
  const seats = openSemaphore(2)
  const seated: string[] = []
  const leave = ['a', 'b', 'c', 'd'].map(name => seats.ask(() => seated.push(name)))
  expect(seated).toEqual(['a', 'b'])
  leave[2]?.()
  leave[0]?.()
  leave[0]?.()
  expect(seated).toEqual(['a', 'b', 'd'])
})

test('a key that is refused again and again is not tried for more, unless it was once welcome', () => {
  for (const _ of [1, 2, 3]) {
    expect([isWorthAsking('weak'), isWorthAsking('mixed')]).toEqual([true, true])
    noteAnswer('weak', true)
    noteAnswer('mixed', _ !== 2)
  }
  noteAnswer('mixed', true)
  expect([isWorthAsking('weak'), isWorthAsking('mixed'), isWorthAsking('other')]).toEqual([false, true, true])
})
