import { setTimeout as sleep } from 'node:timers/promises'

import { stepLatenessMetric } from '../platform/metrics/engine.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { repeatWork } from '../platform/runtime/repeat.ts'
import type { SlowLog } from '../platform/runtime/slow-log.ts'
import { runInSpan } from '../platform/tracing/tracing.ts'
import type { ScheduledPlay } from '../stores/jobs/scheduled-plays.ts'
import { advance, advanceBatch, type AdvanceResult } from './advance.ts'
import type { EngineServices } from './services.ts'

/** An advance that is earlier is scheduled again, or the time of this process is wrong: the sweep repairs it. */
const maxEarlyMs = 2_000
/** Plays are taken this long before they are due, and wait in this process until the exact millisecond. */
const leadMs = 250
/** Interval of polls: a play that is scheduled shortly before its end may be this late. */
const pauseMs = 100
/** Maximum number of plays that were taken and have not ended; the others are left to other processes. */
const runningAtMost = 500

/** Ends plays on time, until it is stopped. */
export function startAdvances(services: EngineServices, slowLog: SlowLog) {
  const { log, scheduledPlays, stationFaults } = services
  const due = openDueAdvances(services)
  const running = new Set<Promise<void>>()

  async function end(play: ScheduledPlay): Promise<void> {
    const { outcome, earlyByMs } = await due.advance(play)
    if (outcome === 'advanced') measureStep(play)
    if (outcome !== 'not-due' || earlyByMs > maxEarlyMs) return
    // The time of this process is ahead of that of Postgres.
    await sleep(earlyByMs)
    const again = await due.advance(play)
    if (again.outcome === 'advanced') measureStep(play)
  }

  /** The next song is published. */
  function measureStep({ stationId, shId, dueAtMs }: ScheduledPlay): void {
    const lateMs = Math.max(0, engineTimeMs() - dueAtMs)
    stepLatenessMetric.observe(lateMs / 1_000)
    slowLog.note('step', lateMs, () => ({ station: stationId, play: shId }))
  }

  function start(play: ScheduledPlay): void {
    const run = stationFaults
      .isolate('songs', play.stationId, () => end(play))
      .then(() => {})
      .catch((error: unknown) => log.warn({ err: error, play }, 'advance failed; retrying'))
      .finally(() => running.delete(run))
    running.add(run)
  }

  const taking = repeatWork(
    async () => {
      const room = runningAtMost - running.size
      if (room > 0) for (const play of await scheduledPlays.take(engineTimeMs() + leadMs, room)) start(play)
    },
    { pauseMs, log, failure: 'taking due plays failed' }
  )
  return {
    stop: async () => {
      await taking.stop()
      await Promise.all(running)
    }
  }
}

/** Plays that are due within this time join a batch. Less than the early end that `advance` tolerates. */
const windowMs = 16
/** A due play waits up to this long for others, so that batches are larger. */
const delayMs = 20
/** A batch with this many plays starts without waiting for more. */
const sufficientSize = 16
/** Above this size a batch takes longer than it saves. */
const batchSize = 48
/**
 * Transactions at once: fewer than connections to Postgres, and few enough that batches are large under load.
 */
const maxInFlight = 3
/** Maximum time of a timer: the engine time may be corrected meanwhile. */
const maxWaitMs = 250

interface WaitingPlay extends ScheduledPlay {
  readonly resolve: (result: AdvanceResult | Promise<AdvanceResult>) => void
}

/**
 * Ends plays when they are due. Those that are due within a few milliseconds of each other share a
 * transaction; a lone one does not wait for others.
 */
export function openDueAdvances(services: EngineServices) {
  /** In order of their due times. */
  const waiting: WaitingPlay[] = []
  let inFlight = 0
  let timer: NodeJS.Timeout | null = null

  function schedule(): void {
    if (timer) clearTimeout(timer)
    timer = null
    if (waiting.length === 0 || inFlight >= maxInFlight) return
    // Overdue plays wait for a timer as well, so that all that are added in one tick share batches.
    timer = setTimeout(startDue, clamp(startOfBatch(waiting) - engineTimeMs(), 0, maxWaitMs))
  }

  function startDue(): void {
    const nowMs = engineTimeMs()
    // A timer may fire up to a millisecond early.
    if (startOfBatch(waiting) <= nowMs) void run(dequeueBatch(waiting, nowMs + windowMs))
    schedule()
  }

  /** A trace begins with each batch: its songs are over. */
  function run(batch: readonly WaitingPlay[]): Promise<void> {
    const attributes = { 'cuewire.stations': batch.length }
    return runInSpan('end songs', { parent: null, attributes }, () => endBatch(batch))
  }

  async function endBatch(batch: readonly WaitingPlay[]): Promise<void> {
    inFlight++
    const { results, published } = await tryBatch(services, batch)
    inFlight--
    for (const { stationId, shId, resolve } of batch) {
      const result = results.get(stationId)
      if (result) resolve(published.then(() => result))
      else resolve(advance(services, { stationId, endedShId: shId, cause: 'due' }))
    }
    schedule()
    // Until then the trace goes on. Whoever waits for a result gets the error.
    await published.catch(() => {})
  }

  return {
    /** Ends a play when it is due, and resolves when the next one is published. */
    advance: (play: ScheduledPlay) =>
      new Promise<AdvanceResult>(resolve => {
        const index = waiting.findLastIndex(({ dueAtMs }) => dueAtMs <= play.dueAtMs)
        waiting.splice(index + 1, 0, { ...play, resolve })
        schedule()
      })
  }
}

/**
 * When the first batch starts: at once if no other play is due soon, else when it is large enough or has
 * waited.
 */
function startOfBatch(waiting: readonly WaitingPlay[]): number {
  const [first, second] = waiting
  if (!first) return Infinity
  const untilMs = first.dueAtMs + delayMs
  if (!second || second.dueAtMs > untilMs + windowMs) return first.dueAtMs
  const sufficientAtMs = (waiting[sufficientSize - 1]?.dueAtMs ?? Infinity) - windowMs
  return clamp(sufficientAtMs, first.dueAtMs, untilMs)
}

const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), high)

/** Removes plays that are due by a time from the list, one of each station. */
function dequeueBatch(waiting: WaitingPlay[], untilMs: number): WaitingPlay[] {
  const batch = new Map<number, WaitingPlay>()
  for (let index = 0; index < waiting.length && batch.size < batchSize;) {
    const play = waiting[index]
    if (!play || play.dueAtMs > untilMs) break
    if (batch.has(play.stationId)) index++
    else {
      batch.set(play.stationId, play)
      waiting.splice(index, 1)
    }
  }
  return [...batch.values()]
}

/** Stations without a result have to advance alone. */
async function tryBatch(services: EngineServices, batch: readonly WaitingPlay[]) {
  try {
    return await advanceBatch(services, batch)
  } catch (error) {
    services.log.warn(
      { err: error, stations: batch.length },
      'batch of advances failed; advancing one by one'
    )
    return { results: new Map<number, AdvanceResult>(), published: Promise.resolve() }
  }
}
