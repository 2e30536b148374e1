import { schedule } from 'node-cron'

import { clearTombstones } from '../src/playout/gone.ts'
import type { PlayoutServices } from '../src/playout/services.ts'

const queueRetentionMs = 7 * 86_400_000

/** Starts what runs by the clock. Every process may run it: each job may run twice. */
export function startCron(services: PlayoutServices): { stop: () => Promise<void> } {
  const retention = schedule('17 * * * *', () => removeOldQueueRows(services), {
    name: 'queue retention',
    timezone: 'UTC',
    noOverlap: true,
    maxRandomDelay: 60_000
  })
  const tombstones = schedule('47 * * * *', () => clearOldTombstones(services), {
    name: 'tombstones of stations',
    timezone: 'UTC',
    noOverlap: true,
    maxRandomDelay: 60_000
  })
  return {
    stop: async () => {
      await Promise.all([retention.destroy(), tombstones.destroy()])
    }
  }
}

async function clearOldTombstones(services: PlayoutServices): Promise<void> {
  try {
    await clearTombstones(services)
  } catch (error) {
    services.log.warn({ err: error }, 'tombstones of stations not removed; trying again in an hour')
  }
}

/** Played and removed rows of the queue can be read for a week. */
async function removeOldQueueRows({ sql, log }: PlayoutServices): Promise<void> {
  try {
    const { count } = await sql`
      delete from queue where coalesce(played_at_ms, skipped_at_ms) < ${Date.now() - queueRetentionMs}`
    if (count > 0) log.info({ rows: count }, 'old queue rows removed')
  } catch (error) {
    log.warn({ err: error }, 'old queue rows not removed; trying again in an hour')
  }
}
