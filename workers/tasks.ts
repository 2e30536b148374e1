import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { flushCounts } from '../src/engine/listeners/flush-counts.ts'
import { removeExpiredSalts } from '../src/engine/listeners/identities.ts'
import { preloadLibraries } from '../src/engine/queue/preload-libraries.ts'
import { refreshRemoteLists, removeUnusedRemoteMedia } from '../src/engine/queue/remote-lists.ts'
import { expireRequests, removeRequestAddresses } from '../src/engine/queue/requests.ts'
import { raiseSilenceAlerts } from '../src/engine/silence-alerts.ts'
import { removeDeletedStations, removeOldTombstones } from '../src/engine/station-removal.ts'
import { openStationRoundRobin } from '../src/engine/station-round-robin.ts'
import { recordUnknownZones } from '../src/engine/unknown-zones.ts'
import { updateDiskAlerts } from '../src/library/storage/disk-alerts.ts'
import { measureDueLocations, updateFreeSpace } from '../src/library/storage/measure-locations.ts'
import { sweepUploads } from '../src/library/uploads/sweep.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import { addMissingPollRows, deleteOrphanedPollAlerts } from '../src/radio/polls/poll-rows.ts'
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
  removeExpiredSessions,
  removeUnusedCovers
} from '../src/stores/db/retention.ts'
import { updateCertificateAlert } from '../src/upkeep/alerts/certificate-alert.ts'
import { removeOrphanDeliveries } from '../src/webhooks/deliveries/deliveries.ts'
import { raiseFailureAlerts } from '../src/webhooks/deliveries/failure-alerts.ts'
import { openAlertLoop } from './alerts.ts'
import {
  openCoverLookupLoop,
  openHlsCountingLoop,
  openPollLoop,
  openRefillLoop,
  openSweepLoop,
  openUpgradeLoop
} from './loops.ts'
import type { WorkerTask } from './task.ts'
import { openWaveformLoop } from './waveforms.ts'
import { enqueueDueDeliveries } from './webhooks.ts'

const second = 1_000
const minute = 60_000

/** More than one, because measuring a bucket may take minutes. */
const measuredAtOnce = 4

/** Chooses which silent stations a run checks, by what has changed since the one before. */
const silenceRotation = openStationRoundRobin()

/** Everything that a workers process repeats. It ends songs and delivers to web hooks beside. */
export const workerTasks: readonly WorkerTask[] = [
  // The file says that the process works, whatever stations and stores do: a new process would not help them.
  {
    name: 'heartbeat',
    pauseMs: second,
    failure: 'heartbeat not written',
    open: ({ config }) => {
      const path = join(config.DATA_DIR, 'workers-alive')
      return () => writeFile(path, '')
    }
  },

  // Repairs
  {
    name: 'sweep',
    pauseMs: second,
    failure: 'sweep failed',
    open: openSweepLoop,
    repairs: {
      when: 'the live state in Redis differs from the station in Postgres, or the current song from the one that is due',
      within: '1 second for stations that changed lately, 64 seconds for all',
      mends: 'publishes the state, ends the song'
    }
  },
  {
    name: 'count flush',
    pauseMs: second,
    failure: 'flushing listener counts failed',
    open: services => async signal => void (await flushCounts(services, signal)),
    repairs: {
      when: 'the listener counts in Postgres differ from those in Redis',
      within: '1 second',
      mends: 'writes them to Postgres'
    }
  },
  {
    name: 'refills',
    pauseMs: second,
    failure: 'refilling queues failed',
    open: openRefillLoop,
    repairs: {
      when: 'the queue of a station differs from its library, or a song started without a plan',
      within: '1 second',
      mends: 'plans the queue again'
    }
  },
  {
    name: 'web hook relay',
    pauseMs: second,
    failure: 'web hook relay failed',
    open: services => () => enqueueDueDeliveries(services),
    repairs: {
      when: 'the jobs in Redis differ from the deliveries that are due in Postgres',
      within: '1 second; 8 seconds if the process that delivers was killed',
      mends: 'adds the jobs again'
    }
  },
  {
    name: 'uploads',
    pauseMs: minute,
    failure: 'sweeping uploads failed',
    open: services => async signal => void (await sweepUploads(services, signal)),
    repairs: {
      when: 'the files of uploads and moves differ from their records, because a process ended',
      within: '60 seconds after the lease of the upload',
      mends: 'finishes the upload or move, removes files without a record'
    }
  },
  {
    name: 'upgrade steps',
    pauseMs: minute,
    failure: 'an upgrade step failed',
    open: openUpgradeLoop,
    repairs: {
      when: 'stored rows differ from what this release would store, and no older one has run for five minutes',
      within: '60 seconds, then batch by batch',
      mends: 'writes the rows anew'
    }
  },
  {
    name: 'rows of polls',
    pauseMs: minute / 2,
    failure: 'adding polls failed',
    open:
      ({ sql }) =>
      async () =>
        void (await addMissingPollRows(sql)),
    repairs: {
      when: 'the polls differ from the streaming servers of the stations',
      within: '30 seconds',
      mends: 'adds the polls that are missing; others end when they are due'
    }
  },
  {
    name: 'rows of deleted stations',
    at: '*/5 * * * * *',
    jitterMs: second,
    run: removeDeletedStations,
    repairs: {
      when: 'rows are left of a station that was deleted',
      within: '6 seconds, then batch by batch',
      mends: 'removes them'
    }
  },
  {
    name: 'deliveries of deleted web hooks',
    at: '*/5 * * * * *',
    jitterMs: second,
    remove: removeOrphanDeliveries,
    repairs: {
      when: 'deliveries are left of a web hook that was deleted',
      within: '6 seconds, then batch by batch',
      mends: 'removes them'
    }
  },

  // Work of its own
  {
    name: 'preload',
    pauseMs: second,
    failure: 'loading libraries failed',
    open: services => signal => preloadLibraries(services, engineTimeMs(), signal)
  },
  { name: 'polls', pauseMs: 250, failure: 'polling streaming servers failed', open: openPollLoop },
  // The pause of a run depends on the length of segments.
  {
    name: 'HLS log',
    pauseMs: 2 * second,
    failure: 'counting HLS listeners failed',
    open: openHlsCountingLoop
  },
  { name: 'waveforms', pauseMs: second / 2, failure: 'making waveforms failed', open: openWaveformLoop },
  {
    name: 'remote lists',
    pauseMs: 3 * second,
    failure: 'fetching remote playlists failed',
    open: services => async signal => void (await refreshRemoteLists(services, engineTimeMs(), signal))
  },
  { name: 'cover lookups', pauseMs: second, failure: 'looking up covers failed', open: openCoverLookupLoop },
  {
    name: 'storage',
    pauseMs: second,
    failure: 'measuring storage failed',
    open: services => signal => measureDueLocations(services, measuredAtOnce, signal)
  },
  {
    name: 'free space',
    pauseMs: minute,
    failure: 'measuring volumes failed',
    open: services => signal => updateFreeSpace(services, signal)
  },

  // Alerts
  { name: 'alerts', pauseMs: 10 * second, failure: 'sending alerts failed', open: openAlertLoop },
  {
    name: 'certificate',
    pauseMs: 60 * minute,
    failure: 'checking the certificate of BASE_URL failed',
    open:
      ({ sql, config }) =>
      signal =>
        updateCertificateAlert(sql, config.BASE_URL, signal)
  },
  {
    name: 'disk alerts',
    pauseMs: 10 * second,
    failure: 'checking the disks failed',
    open:
      ({ sql, config }) =>
      signal =>
        updateDiskAlerts(sql, config.DATA_DIR, signal)
  },
  {
    name: 'web hook alerts',
    at: '*/10 * * * * *',
    jitterMs: second,
    run: ({ sql }) => raiseFailureAlerts(sql)
  },
  {
    name: 'silence alerts',
    at: '*/10 * * * * *',
    jitterMs: second,
    run: ({ sql }, nowMs) => raiseSilenceAlerts(sql, nowMs, process.uptime() * 1_000, silenceRotation)
  },
  {
    name: 'unknown time zones',
    at: '*/10 * * * * *',
    jitterMs: second,
    run: recordUnknownZones
  },

  // What gets old
  {
    name: 'expired requests',
    at: '* * * * *',
    jitterMs: 20 * second,
    run: expireRequests
  },
  {
    name: 'addresses of past requests',
    at: '* * * * *',
    jitterMs: 20 * second,
    remove: removeRequestAddresses
  },
  { name: 'playout command retention', at: '* * * * *', jitterMs: 20 * second, remove: removeOldCommands },
  { name: 'listener salt retention', at: '3 * * * *', remove: removeExpiredSalts },
  { name: 'cover lookup retention', at: '7 * * * *', remove: removeOldCoverLookups },
  { name: 'listener series retention', at: '11 * * * *', remove: removeOldListenerMinutes },
  { name: 'broadcast retention', at: '13 * * * *', remove: removeOldBroadcasts },
  { name: 'queue retention', at: '17 * * * *', remove: removeOldQueueRows },
  { name: 'history retention', at: '19 * * * *', remove: removeOldPlays },
  { name: 'notification retention', at: '23 * * * *', remove: removeOldNotifications },
  { name: 'audit retention', at: '29 * * * *', remove: removeOldAudit },
  { name: 'request retention', at: '37 * * * *', remove: removeOldRequests },
  { name: 'rows of removed remote playlists', at: '41 * * * *', remove: removeUnusedRemoteMedia },
  { name: 'session retention', at: '43 * * * *', remove: removeExpiredSessions },
  { name: 'rows of removed polls', at: '43 * * * *', remove: deleteOrphanedPollAlerts },
  { name: 'invitation retention', at: '47 * * * *', remove: removeOldInvitations },
  { name: 'play reason retention', at: '47 * * * *', remove: removeOldPlayReasons },
  {
    name: 'expired station tombstones',
    at: '47 * * * *',
    run: removeOldTombstones
  },
  { name: 'web hook retention', at: '53 * * * *', remove: removeOldDeliveries },
  { name: 'rows of stopped processes', at: '53 * * * *', remove: removeOldProcesses },
  { name: 'unused artwork', at: '31 3 * * *', remove: removeUnusedCovers },
  { name: 'listener session retention', at: '33 4 * * *', remove: removeOldListenerSessions }
]
