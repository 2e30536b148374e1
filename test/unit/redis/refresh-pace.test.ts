import { expect, test, vi } from 'vitest'

import { limitSlotRefreshes } from '../../../src/redis/connection.ts'

/** A client that answers each question at once, and counts them. */
function aCluster() {
  const asked: number[] = []
  const cluster: Parameters<typeof limitSlotRefreshes>[0] = {
    status: 'ready',
    refreshSlotsCache: done => {
      asked.push(Date.now())
      done?.(null)
    }
  }
  limitSlotRefreshes(cluster)
  return { cluster, asked }
}

test('who asks again at each answer asks four times a second', () => {
  vi.useFakeTimers()
  const { cluster, asked } = aCluster()
  const again = () => cluster.refreshSlotsCache(again)
  cluster.refreshSlotsCache(again)
  vi.advanceTimersByTime(1_100)
  expect(asked).toHaveLength(5)
  vi.useRealTimers()
})

test('the first question is asked at once, and those that wait share the next one', () => {
  vi.useFakeTimers()
  const { cluster, asked } = aCluster()
  const done = vi.fn<() => void>()
  for (let caller = 0; caller < 4; caller++) cluster.refreshSlotsCache(done)
  expect([asked.length, done.mock.calls.length]).toEqual([1, 1])
  vi.advanceTimersByTime(300)
  expect([asked.length, done.mock.calls.length]).toEqual([2, 4])
  vi.useRealTimers()
})

test('a client that was closed asks nothing more', () => {
  vi.useFakeTimers()
  const { cluster, asked } = aCluster()
  cluster.refreshSlotsCache()
  cluster.refreshSlotsCache()
  cluster.status = 'end'
  vi.advanceTimersByTime(1_000)
  expect(asked).toHaveLength(1)
  vi.useRealTimers()
})
