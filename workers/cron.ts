import { type Logger as CronLogger, schedule } from 'node-cron'

import { deleteOrphanedPollAlerts } from '../src/broadcast/polls/poll-rows.ts'
import { removeOldProcesses } from '../src/db/processes.ts'
import {
  removeOldAudit,
  removeOldBroadcasts,
  removeOldCommands,
  removeOldDeliveries,
  removeOldListenerMinutes,
  removeOldListeners,
  removeOldNotifications,
  removeOldPlays,
  removeOldQueueRows,
  removeOldRequests,
  removeUnusedArtwork,
  type RetentionDays
} from '../src/db/retention.ts'
import { removeOldSalts } from '../src/playout/listeners/identities.ts'
import { tidyRemoteLists } from '../src/playout/queue/remote-lists.ts'
import { expireRequests, forgetAddresses } from '../src/playout/queue/requests.ts'
import type { PlayoutServices } from '../src/playout/services.ts'
import { raiseSilenceAlerts } from '../src/playout/silence-alerts.ts'
import { removeDeletedStations } from '../src/playout/station-removal.ts'
import { clearTombstones } from '../src/playout/tombstones.ts'
import { removeFormerStates } from '../src/redis/state-schema.ts'
import { engineTimeMs } from '../src/runtime/engine-time.ts'
import type { Logger } from '../src/runtime/log.ts'
import { removeDeletedDeliveries } from '../src/webhooks/deliveries/deliveries.ts'

/** What runs by the clock, in UTC; gives how many records it touched. */
interface Task {
  readonly name: string
  /** Seconds (optional), minutes, hours, days, months, days of the week. */
  readonly at: string
  readonly maxRandomDelay: number
  readonly run: (services: PlayoutServices, days: RetentionDays) => Promise<number>
}

const tasks: readonly Task[] = [
  {
    name: 'queue retention',
    at: '17 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => removeOldQueueRows(sql, engineTimeMs())
  },
  {
    name: 'history retention',
    at: '19 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }, days) => removeOldPlays(sql, engineTimeMs(), days)
  },
  {
    name: 'rows of deleted stations',
    at: '*/5 * * * * *',
    maxRandomDelay: 1_000,
    run: ({ sql }) => removeDeletedStations(sql)
  },
  {
    name: 'deliveries of deleted web hooks',
    at: '*/5 * * * * *',
    maxRandomDelay: 1_000,
    run: ({ sql }) => removeDeletedDeliveries(sql)
  },
  {
    name: 'notification retention',
    at: '23 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => removeOldNotifications(sql, engineTimeMs())
  },
  {
    name: 'broadcast retention',
    at: '13 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }, days) => removeOldBroadcasts(sql, engineTimeMs(), days)
  },
  {
    name: 'covers of no song',
    at: '31 3 * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => removeUnusedArtwork(sql)
  },
  {
    name: 'audit retention',
    at: '29 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }, days) => removeOldAudit(sql, engineTimeMs(), days)
  },
  {
    name: 'request retention',
    at: '37 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }, days) => removeOldRequests(sql, engineTimeMs(), days)
  },
  {
    name: 'web hook retention',
    at: '53 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }, days) => removeOldDeliveries(sql, engineTimeMs(), days)
  },
  {
    name: 'listener retention',
    at: '7 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => removeOldListeners(sql, engineTimeMs())
  },
  {
    name: 'salts of listeners',
    at: '3 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => removeOldSalts(sql, engineTimeMs())
  },
  {
    name: 'listener series retention',
    at: '11 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }, days) => removeOldListenerMinutes(sql, engineTimeMs(), days)
  },
  {
    name: 'playout command retention',
    at: '* * * * *',
    maxRandomDelay: 20_000,
    run: ({ sql }) => removeOldCommands(sql, engineTimeMs())
  },
  {
    name: 'requests expired',
    at: '* * * * *',
    maxRandomDelay: 20_000,
    run: ({ sql }) => expireRequests(sql, engineTimeMs())
  },
  {
    name: 'addresses of requests forgotten',
    at: '* * * * *',
    maxRandomDelay: 20_000,
    run: ({ sql }) => forgetAddresses(sql, engineTimeMs())
  },
  {
    name: 'remains of remote playlists',
    at: '41 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => tidyRemoteLists(sql)
  },
  {
    name: 'remains of polls',
    at: '43 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => deleteOrphanedPollAlerts(sql)
  },
  {
    name: 'processes that have ended',
    at: '53 * * * *',
    maxRandomDelay: 60_000,
    run: ({ sql }) => removeOldProcesses(sql)
  },
  {
    name: 'live states of release 0.1.0',
    at: '59 * * * *',
    maxRandomDelay: 60_000,
    run: ({ redis }) => removeFormerStates(redis)
  },
  { name: 'tombstones of stations', at: '47 * * * *', maxRandomDelay: 60_000, run: clearTombstones },
  {
    name: 'silence watch',
    at: '*/10 * * * * *',
    maxRandomDelay: 3_000,
    run: ({ sql }) => raiseSilenceAlerts(sql, engineTimeMs())
  }
]

/** Starts what runs by the clock. Every process may run it: each task can be repeated at any time. */
export function startCron(services: PlayoutServices, days: RetentionDays): { stop: () => Promise<void> } {
  const logger = cronLogger(services.log)
  const started = tasks.map(({ name, at, maxRandomDelay, run }) =>
    schedule(
      at,
      logged(name, () => run(services, days), services.log),
      {
        name,
        timezone: 'UTC',
        noOverlap: true,
        maxRandomDelay,
        logger
      }
    )
  )
  return {
    stop: async () => {
      await Promise.all(started.map(async task => task.destroy()))
    }
  }
}

/**
 * What node-cron itself has to say, as of a task that was due while the process stood still, goes where all
 * lines go.
 */
const cronLogger = (log: Logger): CronLogger => ({
  info: message => log.info(message),
  warn: message => log.warn(message),
  error: (message, error) => log.error({ err: error ?? message }, 'a task failed to run'),
  debug: () => {}
})

/** One line when there was something to do, one when it begins to fail. */
function logged(name: string, run: () => Promise<number>, log: Logger): () => Promise<void> {
  let isFailing = false
  return async () => {
    try {
      const records = await run()
      if (records > 0) log.info({ records }, name)
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, `${name} failed; retrying at the next run`)
      isFailing = true
    }
  }
}
