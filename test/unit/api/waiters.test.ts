import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import {
  admitUpTo,
  openLongPolls,
  type LongPollEnd,
  type LongPollsOptions
} from '../../../src/api/now-playing/long-polls.ts'
import type { StationState } from '../../../src/station/state.ts'
import { afterSong, aStation } from '../../support/builders.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const first = aStation({ offset: 7 })
const awaited = { stationId: 1, since: 7, epoch: 'e1', waitMs: 30_000, address: '192.0.2.1' }

/** Waiters whose changes are made by hand. */
function open(options: Partial<LongPollsOptions> = {}) {
  let tell: (state: StationState) => void = () => {}
  const waiters = openLongPolls({ onChange: listener => void (tell = listener), ...options })
  return { ...waiters, tell: (state: StationState) => tell(state) }
}

/** Calls what `wait` gave to whom there was room for. */
function leave(forget: (() => void) | string): void {
  if (typeof forget === 'function') forget()
}

const oneTurn = () => vi.advanceTimersByTime(0)

test('a higher offset ends a wait, the same one does not', () => {
  const { wait, tell, size } = open()
  const end = vi.fn<(why: LongPollEnd) => void>()
  wait(awaited, end)
  tell(first)
  tell({ ...afterSong(first), stationId: 2 })
  oneTurn()
  expect(end).not.toHaveBeenCalled()
  tell(afterSong(first))
  tell(afterSong(afterSong(first)))
  oneTurn()
  expect(end.mock.calls).toEqual([['news']])
  expect(size()).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('another epoch ends a wait, however low its offset is', () => {
  const { wait, tell } = open()
  const end = vi.fn<(why: LongPollEnd) => void>()
  wait(awaited, end)
  tell(aStation({ epoch: 'e2', offset: 1 }))
  oneTurn()
  expect(end.mock.calls).toEqual([['news']])
})

test('a wait ends when its time is up, and not before', () => {
  const { wait } = open()
  const [short, long] = [vi.fn<(why: LongPollEnd) => void>(), vi.fn<(why: LongPollEnd) => void>()]
  wait({ ...awaited, waitMs: 1_000 }, short)
  wait(awaited, long)
  vi.advanceTimersByTime(990)
  expect(short).not.toHaveBeenCalled()
  vi.advanceTimersByTime(120)
  expect(short.mock.calls).toEqual([['timeout']])
  vi.advanceTimersByTime(28_800)
  expect(long).not.toHaveBeenCalled()
  vi.advanceTimersByTime(200)
  expect(long.mock.calls).toEqual([['timeout']])
  expect(vi.getTimerCount()).toBe(0)
})

test('one timer serves all', () => {
  const { wait } = open()
  for (let n = 0; n < 1_000; n++) wait(awaited, () => {})
  expect(vi.getTimerCount()).toBe(1)
})

test('whoever is forgotten is never told, also between the change and its turn', () => {
  const { wait, tell, size } = open()
  const end = vi.fn<(why: LongPollEnd) => void>()
  const forget = wait(awaited, end)
  const forgetOther = wait(awaited, end)
  tell(afterSong(first))
  leave(forget)
  leave(forget)
  expect(size()).toBe(1)
  leave(forgetOther)
  vi.advanceTimersByTime(60_000)
  expect(end).not.toHaveBeenCalled()
  expect(size()).toBe(0)
})

test('many are told in slices, each in a turn of its own', () => {
  const { wait, tell } = open({ sliceMs: 0 })
  let told = 0
  for (let n = 0; n < 3; n++) wait(awaited, () => void (told += 1))
  tell(afterSong(first))
  const counts = []
  for (let turn = 0; turn < 4; turn++) {
    vi.advanceTimersToNextTimer()
    counts.push(told)
  }
  expect(counts).toEqual([1, 2, 3, 3])
})

test('there is room for so many, and it is given back in every way a wait can end', () => {
  const { wait, tell } = open({ admit: admitUpTo(3) })
  const forget = wait(awaited, () => {})
  wait({ ...awaited, since: 100, waitMs: 500 }, () => {})
  wait(awaited, () => {})
  expect(wait(awaited, () => {})).toBe('full')
  leave(forget)
  tell(afterSong(first))
  vi.advanceTimersByTime(600)
  const all = [1, 2, 3, 4].map(() => wait(awaited, () => {}))
  expect(all.map(each => each === 'full')).toEqual([false, false, false, true])
})

test('on release all are told, and nobody is taken any more', async () => {
  const { wait, release, size } = open({ sliceMs: 0 })
  const end = vi.fn<(why: LongPollEnd) => void>()
  for (let n = 0; n < 5; n++) wait({ ...awaited, stationId: n % 2 }, end)
  const released = release()
  await vi.advanceTimersByTimeAsync(10)
  await released
  expect(end.mock.calls).toEqual(Array.from({ length: 5 }, () => ['release']))
  expect(size()).toBe(0)
  expect(wait(awaited, end)).toBe('released')
})
