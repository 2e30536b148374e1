import { writeFile } from 'node:fs/promises'

import { openStateComparison } from '../src/engine/compare-states.ts'
import { flushCounts } from '../src/engine/listeners/flush-counts.ts'
import { type PreloadServices, preloadLibraries } from '../src/engine/queue/preload-libraries.ts'
import { refillQueues } from '../src/engine/queue/refill-queues.ts'
import { refreshRemoteLists, type RemoteListServices } from '../src/engine/queue/remote-lists.ts'
import type { PlayoutServices } from '../src/engine/services.ts'
import { openStationRotation } from '../src/engine/station-rotation.ts'
import { sweep } from '../src/engine/sweep.ts'
import type { CoverSource } from '../src/library/covers/find-cover.ts'
import { lookUpNextCover } from '../src/library/covers/look-up-next.ts'
import { updateDiskAlerts } from '../src/library/storage/disk-alerts.ts'
import { measureDue, type StorageDeps, updateFreeSpace } from '../src/library/storage/refresh.ts'
import type { UploadServices } from '../src/library/uploads/services.ts'
import { sweepUploads } from '../src/library/uploads/sweep.ts'
import { lastSweep, sweepAge } from '../src/platform/metrics/engine.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import type { Logger } from '../src/platform/runtime/log.ts'
import { repeat } from '../src/platform/runtime/repeat.ts'
import { type HlsLogOptions, openHlsLog } from '../src/radio/hls/hls-log.ts'
import { addMissingPollRows } from '../src/radio/polls/poll-rows.ts'
import { openPoller, type PollServices } from '../src/radio/polls/poller.ts'
import { runUpgradeStep } from '../src/stores/db/upgrade-step.ts'
import { upgradeSteps } from '../src/stores/db/upgrade-steps.ts'

/**
 * Writes a file every second, whose age a health check reads. It says that the process works, whatever stations and
 * stores do: a new process would not help them. The age of the last sweep is a metric.
 */
export function startHeartbeat(path: string, log: Logger) {
  return repeat(() => writeFile(path, ''), { pauseMs: 1_000, log, failure: 'heartbeat not written' })
}

/** Sweeps every second. */
export function startSweep(services: PlayoutServices) {
  const comparison = openStateComparison(services)
  const rotation = openStationRotation()
  const startedAtMs = performance.now()
  sweepAge.read = () => (performance.now() - (lastSweep.endedAtMs ?? startedAtMs)) / 1_000
  const run = (signal: AbortSignal) => sweep(services, comparison, rotation, signal)
  return repeat(run, { pauseMs: 1_000, log: services.log, failure: 'sweep failed' })
}

/** Flushes listener counts to Postgres about every second. */
export function startCountFlush(services: PlayoutServices) {
  const run = async (signal: AbortSignal) => void (await flushCounts(services, signal))
  return repeat(run, { pauseMs: 1_000, log: services.log, failure: 'flushing listener counts failed' })
}

/** Refills queues of stations whose library has changed, or whose song started without a plan. */
export function startRefills(services: PlayoutServices) {
  const rotation = openStationRotation()
  const run = async (signal: AbortSignal) =>
    (await refillQueues(services, rotation, signal)) ? 0 : refillPauseMs
  return repeat(run, { pauseMs: refillPauseMs, log: services.log, failure: 'refilling queues failed' })
}

const refillPauseMs = 1_000

/** Loads the libraries that the next songs need. */
export function startPreload(services: PreloadServices & Pick<PlayoutServices, 'log'>) {
  const run = (signal: AbortSignal) => preloadLibraries(services, engineTimeMs(), signal)
  return repeat(run, { pauseMs: 1_000, log: services.log, failure: 'loading libraries failed' })
}

const volumesMs = 60_000
const diskAlertsMs = 10_000
/** More than one, because measuring a bucket may take minutes. */
const storageConcurrency = 4

/** Measures storage locations that are due, and the free space of volumes. */
export function startStorageScan(parts: StorageDeps) {
  let volumesAtMs = 0
  const run = async (signal: AbortSignal) => {
    if (performance.now() >= volumesAtMs) {
      await updateFreeSpace(parts, signal)
      volumesAtMs = performance.now() + volumesMs
    }
    await measureDue(parts, storageConcurrency, signal)
  }
  return repeat(run, { pauseMs: 1_000, log: parts.log, failure: 'measuring storage failed' })
}

const upgradeStepsMs = 60_000
/** Leaves most of Postgres to others. */
const betweenBatchesMs = 250

/** Brings stored rows up to date once no older release runs, in batches. */
export function startUpgradeSteps({ sql, log }: Pick<PlayoutServices, 'sql' | 'log'>) {
  const run = async () => {
    const step = await runUpgradeStep(sql, upgradeSteps)
    if (step?.rows === 0) log.info({ step: step.name }, 'upgrade step done')
    return step ? betweenBatchesMs : upgradeStepsMs
  }
  return repeat(run, { pauseMs: upgradeStepsMs, log, failure: 'an upgrade step failed' })
}

const uploadsMs = 60_000

/** Finishes interrupted uploads and removes abandoned ones. */
export function startUploadSweep(services: UploadServices) {
  const run = async (signal: AbortSignal) => void (await sweepUploads(services, signal))
  return repeat(run, { pauseMs: uploadsMs, log: services.log, failure: 'sweeping uploads failed' })
}

/** Notifies operators of volumes that are nearly full. */
export function startDiskAlerts({ sql, config: { DATA_DIR: dataFolder }, log }: StorageDeps) {
  const run = (signal: AbortSignal) => updateDiskAlerts(sql, dataFolder, signal)
  return repeat(run, { pauseMs: diskAlertsMs, log, failure: 'checking the disks failed' })
}

/** Fetches remote playlists that are due. */
export function startRemoteLists(services: RemoteListServices) {
  const run = async (signal: AbortSignal) => {
    await refreshRemoteLists(services, engineTimeMs(), signal)
  }
  return repeat(run, { pauseMs: 3_000, log: services.log, failure: 'fetching remote playlists failed' })
}

/** Looks up covers of songs on air. */
export function startCoverLookups(services: PlayoutServices, source: CoverSource) {
  const run = async (signal: AbortSignal) => {
    await lookUpNextCover(services, source, engineTimeMs(), signal)
  }
  return repeat(run, { pauseMs: 1_000, log: services.log, failure: 'looking up covers failed' })
}

const maxHlsPauseMs = 2_000

/** Counts HLS listeners from an access log. */
export function startHlsLog(services: PlayoutServices, options: HlsLogOptions) {
  const hlsLog = openHlsLog(services, options)
  return repeat(() => hlsLog.update(engineTimeMs()), {
    // Several runs per segment, within which a listener must fetch again.
    pauseMs: Math.min(maxHlsPauseMs, options.segmentMs / 2),
    log: services.log,
    failure: 'counting HLS listeners failed',
    onStopped: () => hlsLog.close()
  })
}

const pollsMs = 250
/** The pause if more servers are due than one run polls. */
const pollsFullMs = 20
const addPollsMs = 30_000

/** Polls streaming servers for listeners and titles. */
export function startPolls(services: PollServices) {
  const stopping = new AbortController()
  const poller = openPoller(services, stopping.signal)
  let addAtMs = 0

  async function run(): Promise<number> {
    if (performance.now() >= addAtMs) {
      await addMissingPollRows(services.sql)
      addAtMs = performance.now() + addPollsMs
    }
    const { isFull } = await poller.startDue(engineTimeMs())
    return isFull ? pollsFullMs : pollsMs
  }

  const loop = repeat(run, {
    pauseMs: pollsMs,
    log: services.log,
    failure: 'polling streaming servers failed',
    onStopped: () => poller.drain()
  })
  return {
    stop: async () => {
      stopping.abort()
      await loop.stop()
    }
  }
}
