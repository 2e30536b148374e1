import { type Logger as CronLogger, schedule } from 'node-cron'

import { removeOldSalts } from '../src/engine/listeners/identities.ts'
import { removeUnusedRemoteMedia } from '../src/engine/queue/remote-lists.ts'
import { expireRequests, removeRequestAddresses } from '../src/engine/queue/requests.ts'
import type { PlayoutServices } from '../src/engine/services.ts'
import { raiseSilenceAlerts } from '../src/engine/silence-alerts.ts'
import { removeDeletedStations, removeOldTombstones } from '../src/engine/station-removal.ts'
import { openStationRotation } from '../src/engine/station-rotation.ts'
import { noteUnknownZones } from '../src/engine/unknown-zones.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import type { Logger } from '../src/platform/runtime/log.ts'
import { deleteOrphanedPollAlerts } from '../src/radio/polls/poll-rows.ts'
import { removeOldProcesses } from '../src/stores/db/processes.ts'
import {
  removeOldAudit,
  removeOldBroadcasts,
  removeOldCommands,
  removeOldCoverLookups,
  removeOldDeliveries,
  removeOldInvitations,
  removeOldListenerMinutes,
  removeOldListenerSessions,
  removeOldNotifications,
  removeOldPlayReasons,
  removeOldPlays,
  removeOldQueueRows,
  removeOldRequests,
  removeOldSessions,
  removeUnusedArtwork,
  type RetentionDays
} from '../src/stores/db/retention.ts'
import type { Sql } from '../src/stores/db/sql.ts'
import { removeOrphanDeliveries } from '../src/webhooks/deliveries/deliveries.ts'
import { raiseFailureAlerts } from '../src/webhooks/deliveries/failure-alerts.ts'

/** A scheduled task; returns the number of records it changed. Times are UTC. */
interface Task {
  readonly name: string
  /** Seconds (optional), minutes, hours, days, months, days of the week. */
  readonly at: string
  /** Maximum random delay; a minute by default. */
  readonly jitterMs?: number
  readonly run: (sql: Sql, nowMs: number, days: RetentionDays, services: PlayoutServices) => Promise<number>
}

const tasks: readonly Task[] = [
  { name: 'queue retention', at: '17 * * * *', run: removeOldQueueRows },
  { name: 'play reason retention', at: '47 * * * *', run: removeOldPlayReasons },
  { name: 'history retention', at: '19 * * * *', run: removeOldPlays },
  {
    name: 'rows of deleted stations',
    at: '*/5 * * * * *',
    jitterMs: 1_000,
    run: (_sql, _nowMs, _days, services) => removeDeletedStations(services)
  },
  {
    name: 'deliveries of deleted web hooks',
    at: '*/5 * * * * *',
    jitterMs: 1_000,
    run: removeOrphanDeliveries
  },
  { name: 'notification retention', at: '23 * * * *', run: removeOldNotifications },
  { name: 'session retention', at: '43 * * * *', run: removeOldSessions },
  { name: 'invitation retention', at: '47 * * * *', run: removeOldInvitations },
  { name: 'broadcast retention', at: '13 * * * *', run: removeOldBroadcasts },
  { name: 'cover lookup retention', at: '7 * * * *', run: removeOldCoverLookups },
  { name: 'unused artwork', at: '31 3 * * *', run: removeUnusedArtwork },
  { name: 'audit retention', at: '29 * * * *', run: removeOldAudit },
  { name: 'request retention', at: '37 * * * *', run: removeOldRequests },
  { name: 'web hook retention', at: '53 * * * *', run: removeOldDeliveries },
  { name: 'listener salt retention', at: '3 * * * *', run: removeOldSalts },
  { name: 'listener series retention', at: '11 * * * *', run: removeOldListenerMinutes },
  { name: 'listener session retention', at: '33 4 * * *', run: removeOldListenerSessions },
  { name: 'playout command retention', at: '* * * * *', jitterMs: 20_000, run: removeOldCommands },
  {
    name: 'expired requests',
    at: '* * * * *',
    jitterMs: 20_000,
    run: (_sql, nowMs, _days, services) => expireRequests(services, nowMs)
  },
  { name: 'addresses of past requests', at: '* * * * *', jitterMs: 20_000, run: removeRequestAddresses },
  { name: 'rows of removed remote playlists', at: '41 * * * *', run: removeUnusedRemoteMedia },
  { name: 'rows of removed polls', at: '43 * * * *', run: deleteOrphanedPollAlerts },
  { name: 'rows of stopped processes', at: '53 * * * *', run: removeOldProcesses },
  {
    name: 'expired station tombstones',
    at: '47 * * * *',
    run: (_sql, _nowMs, _days, services) => removeOldTombstones(services)
  },
  {
    name: 'unknown time zones',
    at: '*/10 * * * * *',
    jitterMs: 1_000,
    run: (_sql, _nowMs, _days, services) => noteUnknownZones(services)
  },
  { name: 'web hook alerts', at: '*/10 * * * * *', jitterMs: 1_000, run: raiseFailureAlerts }
]

/** Opened per process, since a run checks what has changed since the one before. */
function openSilenceAlerts(): Task {
  const rotation = openStationRotation()
  return {
    name: 'silence alerts',
    at: '*/10 * * * * *',
    jitterMs: 1_000,
    run: (sql, nowMs) => raiseSilenceAlerts(sql, nowMs, process.uptime() * 1_000, rotation)
  }
}

/** Starts the scheduled tasks. All processes run them: each task is idempotent. */
export function startCron(services: PlayoutServices, days: RetentionDays) {
  const { sql, log } = services
  const logger = openCronLogger(log)
  const started = [...tasks, openSilenceAlerts()].map(({ name, at, jitterMs = 60_000, run }) => {
    const runLogged = logOutcome(name, () => run(sql, engineTimeMs(), days, services), log)
    return schedule(at, runLogged, {
      name,
      timezone: 'UTC',
      noOverlap: true,
      maxRandomDelay: jitterMs,
      logger
    })
  })
  return {
    stop: async () => {
      await Promise.all(started.map(async task => task.destroy()))
    }
  }
}

/** Logs messages of node-cron, such as a task that was missed while the process was suspended. */
const openCronLogger = (log: Logger): CronLogger => ({
  info: message => log.info(message),
  warn: message => log.warn(message),
  error: (message, error) => log.error({ err: error ?? message }, 'a task failed to run'),
  debug: () => {}
})

/** Logs a run that changed records, and the first failure in a row. */
function logOutcome(name: string, run: () => Promise<number>, log: Logger): () => Promise<void> {
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
