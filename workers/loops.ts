import { openStateComparison } from '../src/engine/compare-states.ts'
import { refillQueues } from '../src/engine/queue/refill-queues.ts'
import { openStationRoundRobin } from '../src/engine/station-round-robin.ts'
import { sweep } from '../src/engine/sweep.ts'
import { createMusicBrainzSource } from '../src/library/covers/find-cover.ts'
import { lookUpNextCover } from '../src/library/covers/look-up-next.ts'
import { lastSweep, sweepAgeMetric } from '../src/platform/metrics/engine.ts'
import { engineTimeMs } from '../src/platform/runtime/engine-time.ts'
import { openHlsLog } from '../src/radio/hls/hls-log.ts'
import { openPoller } from '../src/radio/polls/poller.ts'
import { runUpgradeStep } from '../src/stores/db/upgrade-step.ts'
import { upgradeSteps } from '../src/stores/db/upgrade-steps.ts'
import type { TaskLoop, TaskServices } from './task.ts'

/* Tasks of `tasks.ts` that keep something from run to run, or choose when the next one comes. */

/** Sweeps, and measures how long ago the last sweep ended. */
export function openSweepLoop(services: TaskServices): TaskLoop {
  const comparison = openStateComparison(services)
  const rotation = openStationRoundRobin()
  const startedAtMs = performance.now()
  sweepAgeMetric.read = () => (performance.now() - (lastSweep.endedAtMs ?? startedAtMs)) / 1_000
  return signal => sweep(services, comparison, rotation, signal)
}

/** Refills queues, without a pause while there are more. */
export function openRefillLoop(services: TaskServices): TaskLoop {
  const rotation = openStationRoundRobin()
  return async signal => ((await refillQueues(services, rotation, signal)) ? 0 : undefined)
}

/** Leaves most of Postgres to others. */
const betweenBatchesMs = 250

/** Brings stored rows up to date, in batches. */
export function openUpgradeLoop({ sql, log }: TaskServices): TaskLoop {
  return async () => {
    const step = await runUpgradeStep(sql, upgradeSteps)
    if (step?.rows === 0) log.info({ step: step.name }, 'upgrade step done')
    return step ? betweenBatchesMs : undefined
  }
}

/** Looks up covers of songs on air, if this is configured. */
export function openCoverLookupLoop(services: TaskServices): TaskLoop | null {
  const { COVER_LOOKUP: lookup, BASE_URL: baseUrl } = services.config
  if (lookup !== 'musicbrainz') return null
  const source = createMusicBrainzSource(baseUrl)
  return async signal => void (await lookUpNextCover(services, source, engineTimeMs(), signal))
}

const maxHlsPauseMs = 2_000

/** Counts HLS listeners from an access log, if there is one. */
export function openHlsCountingLoop(services: TaskServices) {
  const { HLS_ACCESS_LOG: path, HLS_SEGMENT_SECONDS: segmentSeconds } = services.config
  if (path === undefined) return null
  const segmentMs = segmentSeconds * 1_000
  const hlsLog = openHlsLog(services, { path, segmentMs, describeListener: services.describeListener })
  // Several runs per segment, within which a listener must fetch again.
  const pauseMs = Math.min(maxHlsPauseMs, segmentMs / 2)
  return {
    run: async () => {
      await hlsLog.update(engineTimeMs())
      return pauseMs
    },
    end: () => hlsLog.close()
  }
}

/** The pause if more servers are due than one run polls. */
const pollsFullMs = 20

/** Polls streaming servers for listeners and titles. */
export function openPollLoop(services: TaskServices) {
  let poller: ReturnType<typeof openPoller> | null = null
  return {
    run: async (signal: AbortSignal) => {
      poller ??= openPoller(services, signal)
      const { isFull } = await poller.startDue(engineTimeMs())
      return isFull ? pollsFullMs : undefined
    },
    end: async () => poller?.drain()
  }
}
