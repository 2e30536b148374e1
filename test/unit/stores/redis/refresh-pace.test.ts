import { expect, test, vi } from 'vitest'

import { limitSlotRefreshes } from '../../../../src/stores/redis/client-corrections.ts'

/** A cluster client that completes each slot refresh at once, and records its time. */
function aCluster() {
  const refreshedAtMs: number[] = []
  const cluster: Parameters<typeof limitSlotRefreshes>[0] = {
    status: 'ready',
    refreshSlotsCache: done => {
      refreshedAtMs.push(Date.now())
      done?.(null)
    }
  }
  limitSlotRefreshes(cluster)
  return { cluster, refreshedAtMs }
}

test('slot refreshes are limited to four per second', () => {
  vi.useFakeTimers()
  const { cluster, refreshedAtMs } = aCluster()
  const again = () => cluster.refreshSlotsCache(again)
  cluster.refreshSlotsCache(again)
  vi.advanceTimersByTime(1_100)
  expect(refreshedAtMs).toHaveLength(5)
  vi.useRealTimers()
})

test('the first refresh starts at once, and waiting callers share the next one', () => {
  vi.useFakeTimers()
  const { cluster, refreshedAtMs } = aCluster()
  const done = vi.fn<() => void>()
  for (let caller = 0; caller < 4; caller++) cluster.refreshSlotsCache(done)
  expect([refreshedAtMs.length, done.mock.calls.length]).toEqual([1, 1])
  vi.advanceTimersByTime(300)
  expect([refreshedAtMs.length, done.mock.calls.length]).toEqual([2, 4])
  vi.useRealTimers()
})

test('a closed client starts no refresh', () => {
  vi.useFakeTimers()
  const { cluster, refreshedAtMs } = aCluster()
  cluster.refreshSlotsCache()
  cluster.refreshSlotsCache()
  cluster.status = 'end'
  vi.advanceTimersByTime(1_000)
  expect(refreshedAtMs).toHaveLength(1)
  vi.useRealTimers()
})
