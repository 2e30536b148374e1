import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import {
  openLongPolls,
  type LongPollEnd,
  type LongPollsOptions
} from '../../../src/api/now-playing/long-polls.ts'
import type { StationState } from '../../../src/model/station/state.ts'
import { afterSong, aStation } from '../../support/builders.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const first = aStation({ offset: 7 })
const awaited = { stationId: 1, since: 7, epoch: 'e1', waitMs: 30_000, address: '192.0.2.1' }

/** Long polls with a function that publishes a state. */
function open(options: Partial<LongPollsOptions> = {}) {
  let publish: (state: StationState) => void = () => {}
  const onChange = (listener: typeof publish) => void (publish = listener)
  const longPolls = openLongPolls({ onChange, isKnown: () => true, admit: () => () => {}, ...options })
  return { ...longPolls, publish: (state: StationState) => publish(state) }
}

/** Admits `limit` connections at a time. */
function admitUpTo(limit: number) {
  let admitted = 0
  return () => {
    if (admitted >= limit) return null
    admitted += 1
    return () => void (admitted -= 1)
  }
}

/** Cancels a long poll that was admitted. */
function cancel(waiting: (() => void) | string): void {
  if (typeof waiting === 'function') waiting()
}

const runImmediates = () => vi.advanceTimersByTime(0)

test('a higher offset ends a wait, the same one does not', () => {
  const { wait, publish, size } = open()
  const end = vi.fn<(reason: LongPollEnd) => void>()
  wait(awaited, end)
  publish(first)
  publish({ ...afterSong(first), stationId: 2 })
  runImmediates()
  expect(end).not.toHaveBeenCalled()
  publish(afterSong(first))
  publish(afterSong(afterSong(first)))
  runImmediates()
  expect(end.mock.calls).toEqual([['changed']])
  expect(size()).toBe(0)
  expect(vi.getTimerCount()).toBe(0)
})

test('another epoch ends a wait, however low its offset is', () => {
  const { wait, publish } = open()
  const end = vi.fn<(reason: LongPollEnd) => void>()
  wait(awaited, end)
  publish(aStation({ epoch: 'e2', offset: 1 }))
  runImmediates()
  expect(end.mock.calls).toEqual([['changed']])
})

test('a wait ends at its timeout, and not before', () => {
  const { wait } = open()
  const [short, long] = [vi.fn<(reason: LongPollEnd) => void>(), vi.fn<(reason: LongPollEnd) => void>()]
  wait({ ...awaited, waitMs: 1_000 }, short)
  wait(awaited, long)
  vi.advanceTimersByTime(990)
  expect(short).not.toHaveBeenCalled()
  vi.advanceTimersByTime(120)
  expect(short.mock.calls).toEqual([['timed-out']])
  vi.advanceTimersByTime(28_800)
  expect(long).not.toHaveBeenCalled()
  vi.advanceTimersByTime(200)
  expect(long.mock.calls).toEqual([['timed-out']])
  expect(vi.getTimerCount()).toBe(0)
})

test('all long polls share one timer', () => {
  const { wait } = open()
  for (let n = 0; n < 1_000; n++) wait(awaited, () => {})
  expect(vi.getTimerCount()).toBe(1)
})

test('a canceled long poll never ends, also between the change and its time slice', () => {
  const { wait, publish, size } = open()
  const end = vi.fn<(reason: LongPollEnd) => void>()
  const waiting = wait(awaited, end)
  const other = wait(awaited, end)
  publish(afterSong(first))
  cancel(waiting)
  cancel(waiting)
  expect(size()).toBe(1)
  cancel(other)
  vi.advanceTimersByTime(60_000)
  expect(end).not.toHaveBeenCalled()
  expect(size()).toBe(0)
})

test('many long polls end in time slices', () => {
  const { wait, publish } = open({ sliceMs: 0 })
  let count = 0
  for (let n = 0; n < 3; n++) wait(awaited, () => void (count += 1))
  publish(afterSong(first))
  const counts = []
  for (let slice = 0; slice < 4; slice++) {
    vi.advanceTimersToNextTimer()
    counts.push(count)
  }
  expect(counts).toEqual([1, 2, 3, 3])
})

test('the number of long polls is limited, and each end frees a place', () => {
  const { wait, publish } = open({ admit: admitUpTo(3) })
  const waiting = wait(awaited, () => {})
  wait({ ...awaited, since: 100, waitMs: 500 }, () => {})
  wait(awaited, () => {})
  expect(wait(awaited, () => {})).toBe('full')
  cancel(waiting)
  publish(afterSong(first))
  vi.advanceTimersByTime(600)
  const all = [1, 2, 3, 4].map(() => wait(awaited, () => {}))
  expect(all.map(each => each === 'full')).toEqual([false, false, false, true])
})

test('release ends all long polls, and new ones are refused', async () => {
  const { wait, release, size } = open({ sliceMs: 0 })
  const end = vi.fn<(reason: LongPollEnd) => void>()
  for (let n = 0; n < 5; n++) wait({ ...awaited, stationId: n % 2 }, end)
  const released = release()
  await vi.advanceTimersByTimeAsync(10)
  await released
  expect(end.mock.calls).toEqual(Array.from({ length: 5 }, () => ['released']))
  expect(size()).toBe(0)
  expect(wait(awaited, end)).toBe('released')
})
