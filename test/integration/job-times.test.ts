import { expect, vi } from 'vitest'

import { scheduleAdvances, scheduleDeliveries } from '../../src/jobs.ts'
import { redisTimeMs } from '../../src/redis/redis-time.ts'
import { engineTime } from '../../src/runtime/engine-time.ts'
import { test } from '../support/fixtures.ts'
import { openPlayout } from '../support/playout.ts'
import { waitFor } from '../support/wait.ts'

const hourMs = 3_600_000

test.for([hourMs, -hourMs])(
  'a clock that is %i ms ahead makes no job late',
  async (aheadMs, { sql, redisUrl }) => {
    await using playout = await openPlayout(sql, redisUrl)
    const now = Date.now
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs)
    try {
      await waitFor(() => Math.abs(redisTimeMs() - now()) < 1_000, {
        deadlineMs: 5_000,
        what: 'the time of Redis to be measured'
      })
      // As a step has measured it.
      engineTime.note({ sentAtMs: performance.now(), answeredAtMs: performance.now(), timeMs: now() })
      const dueAtMs = now() + 60_000
      await scheduleAdvances(playout.advances, [{ stationId: 1, shId: 2, dueAtMs }])
      await scheduleDeliveries(playout.deliveries, [3], dueAtMs)
    } finally {
      clock.mockRestore()
    }
    for (const queue of [playout.advances, playout.deliveries]) {
      const [job] = await queue.getDelayed()
      const releasedAtMs = (job?.timestamp ?? 0) + (job?.delay ?? 0)
      expect(releasedAtMs - now()).toBeGreaterThan(55_000)
      expect(releasedAtMs - now()).toBeLessThan(61_000)
    }
  }
)
