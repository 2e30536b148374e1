import type { AutodjLibrary } from '../model/autodj/library.ts'
import { findPlannedStart, planQueue, type QueuePlan } from '../model/autodj/queue-planner.ts'
import { advancesMetric } from '../platform/metrics/engine.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import type { Fragment, Tx } from '../stores/db/sql.ts'
import type { ScheduledPlay } from '../stores/jobs/scheduled-plays.ts'
import { type BatchResult, changeStation, changeStations, type StationChange } from './change-station.ts'
import {
  endPlaysStatement,
  markSilent,
  markQueueRowStart,
  openHistoryRowsStatement,
  type PlayEnd,
  type QueueStart
} from './plays/plays.ts'
import { endUnreportedPlay } from './plays/provisional-plays.ts'
import {
  type QueueContext,
  type QueueContextReads,
  readForQueueContext,
  readForQueueContexts,
  readQueueContext
} from './queue-context.ts'
import { hasCachedLibrary, isLibraryCurrent } from './queue/library-cache.ts'
import { endPassStatements, planStatements } from './queue/plan-statements.ts'
import { refillQueue } from './queue/queue.ts'
import type { EngineServices } from './services.ts'

/** `skip`: an operator ends the play. `wake`: a silent station may have something to play. */
export type AdvanceCause = 'due' | 'skip' | 'wake'

export interface AdvanceRequest {
  readonly stationId: number
  /** The play to end, 0 for `wake`; null with `skip`: the current one. */
  readonly endedShId: number | null
  readonly cause: AdvanceCause
}

/**
 * `advanced`: this call ended the play. `postponed`: its end is decided later. `superseded`: another play is
 * current. `not-due`: it ends later. `silent`: nothing to play. `deleted`: the station does not exist.
 */
export type AdvanceOutcome = 'advanced' | 'postponed' | 'superseded' | 'not-due' | 'silent' | 'deleted'

export interface AdvanceResult {
  readonly outcome: AdvanceOutcome
  /** Milliseconds until the play is due, by the time of Postgres; 0 unless the outcome is `not-due`. */
  readonly earlyByMs: number
}

const outcomeOnly = (outcome: AdvanceOutcome): AdvanceResult => ({ outcome, earlyByMs: 0 })

/** Ends a play and starts the next one. Idempotent: a concurrent or repeated call is a no-op. */
export async function advance(
  services: EngineServices,
  { stationId, ...request }: AdvanceRequest
): Promise<AdvanceResult> {
  try {
    const result = await changeStation(services, stationId, {
      reads: tx => readForQueueContexts(tx, [stationId], services.libraries),
      change: (change, reads) => advanceInChange(change, request, reads.get(stationId))
    })
    advancesMetric.inc({ cause: request.cause, outcome: result.outcome })
    return result
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not-found') return outcomeOnly('deleted')
    throw error
  }
}

/** Does what `advance` does, as part of a change. `reads` were sent with the lock. */
export async function advanceInChange(
  change: StationChange,
  request: Omit<AdvanceRequest, 'stationId'>,
  reads?: QueueContextReads
): Promise<AdvanceResult> {
  const startMs = decideStart(change, request)
  if (typeof startMs !== 'number') return startMs
  if (change.station.enabledBackend !== 'clock') return outcomeOnly(await endReported(change, reads))
  const step =
    (reads && stepWithoutPlanning(change, reads, startMs)) ??
    planStep(change, await readQueueContext(change, reads), startMs)
  if (!step) return outcomeOnly('silent')
  change.send(statementsOfSteps(change.tx, [step]))
  return outcomeOnly('advanced')
}

/**
 * Ends due plays of different stations, like `advance`, in one transaction. Stations that would delay or fail
 * the others are unchanged and have no result: those that are locked, wait for the report of a playout, need
 * a library that has to be read, or cannot be planned.
 */
export async function advanceBatch(
  services: EngineServices,
  plays: readonly Pick<ScheduledPlay, 'stationId' | 'shId'>[]
): Promise<BatchResult<AdvanceResult>> {
  const shIdOf = new Map(plays.map(({ stationId, shId }) => [stationId, shId]))
  const batch = await changeStations(services, [...shIdOf.keys()], {
    reads: (tx, stationIds) => readForQueueContexts(tx, stationIds, services.libraries),
    change: async (changes, reads) => {
      const planned = await Promise.all(
        changes.map(change => {
          const { id } = change.station
          return planAdvance(change, shIdOf.get(id) ?? 0, reads.get(id))
        })
      )
      const steps = planned.flatMap(each => each?.step ?? [])
      changes[0]?.send(statementsOfSteps(changes[0].tx, steps))
      return new Map(planned.flatMap(each => (each ? [[each.stationId, each.result]] : [])))
    }
  })
  for (const { outcome } of batch.results.values()) advancesMetric.inc({ cause: 'due', outcome })
  return batch
}

interface PlannedAdvance {
  readonly stationId: number
  readonly result: AdvanceResult
  readonly step: Step | null
}

/** Plans the end of a due play. Null: the station has to advance alone. */
async function planAdvance(
  change: StationChange,
  endedShId: number,
  reads: QueueContextReads | undefined
): Promise<PlannedAdvance | null> {
  const { station, services } = change
  const stationId = station.id
  const startMs = decideStart(change, { endedShId, cause: 'due' })
  if (typeof startMs !== 'number') return { stationId, result: startMs, step: null }
  if (station.enabledBackend !== 'clock' || !reads) return null
  try {
    const asPlanned = stepWithoutPlanning(change, reads, startMs)
    if (!asPlanned && !isLibraryCurrent(services.libraries, reads.autodj)) return null
    const step = asPlanned ?? planStep(change, await readQueueContext(change, reads), startMs)
    return { stationId, result: outcomeOnly(step ? 'advanced' : 'silent'), step }
  } catch {
    // It advances alone, and fails there without affecting the others.
    return null
  }
}

/** If a play ended longer ago, the next one starts now. Songs that were not heard are not replayed. */
const catchUpMs = 5_000

/** A play may be ended this much before its time, since clocks differ. */
const toleranceMs = 20

/**
 * Decides when the play ends and the next one starts (Unix milliseconds). Returns a result if it does not end
 * now.
 */
function decideStart(
  { station, play, isPulledBack, happenedAt }: StationChange,
  { endedShId, cause }: Omit<AdvanceRequest, 'stationId'>
): number | AdvanceResult {
  const nowMs = station.readAtMs
  if (endedShId !== null && (play?.id ?? 0) !== endedShId) return outcomeOnly('superseded')
  if (cause === 'skip' && !play) return outcomeOnly('silent')
  const dueAtMs = play?.dueAtMs ?? nowMs
  if (cause === 'due' && nowMs < dueAtMs - toleranceMs)
    return isPulledBack ? outcomeOnly('postponed') : { outcome: 'not-due', earlyByMs: dueAtMs - nowMs }
  const boundaryMs = cause === 'due' && nowMs - dueAtMs <= catchUpMs ? dueAtMs : nowMs
  const startMs = Math.max(boundaryMs, play?.startedAtMs ?? 0)
  happenedAt(startMs)
  return startMs
}

/** A play that a playout, a streamer or a streaming server should have ended by a report. */
async function endReported(change: StationChange, reads?: QueueContextReads): Promise<AdvanceOutcome> {
  const { tx, station, play } = change
  if (!play) return 'silent'
  const { autodj, queue } = reads ?? (await readForQueueContext(tx, station.id, null))
  const outcome = await endUnreportedPlay(change, play, queue, autodj.overlapMs)
  await refillQueue(change, { isLibraryChanged: false })
  return outcome === 'ended' ? 'advanced' : 'postponed'
}

/** What is written when a play of the AutoDJ ends and the next one starts. */
interface Step {
  readonly stationId: number
  /** The play that ends; null: the station was silent. */
  readonly end: PlayEnd | null
  /** The play that starts; null: the station becomes silent. */
  readonly start: QueueStart | null
  /** The plan of the queue, and the library that it was made from; null: the queue keeps its plan. */
  readonly planned: { readonly plan: QueuePlan; readonly library: AutodjLibrary } | null
}

/** Equals no version of a library, so that `refillQueues` plans the queue again. */
const neverFilled = -1

/**
 * Builds the step that starts the first queued row as it was planned, if the library of the station is not cached and
 * the row can start without it. The queue must have been planned for the current library; `refillQueues` refills it
 * later. Null: the queue must be planned.
 */
function stepWithoutPlanning(
  change: StationChange,
  { autodj, queue }: QueueContextReads,
  startMs: number
): Step | null {
  const { services, station, play, isPulledBack } = change
  const isFilled = autodj.filledVersion === autodj.libraryVersion
  if (!play || !isFilled || isPulledBack || hasCachedLibrary(services.libraries, station.id)) return null
  const planned = findPlannedStart(queue, startMs, autodj.overlapMs)
  if (!planned) return null
  const times = { atMs: startMs, dueAtMs: Math.round(planned.endsAtMs) }
  return {
    stationId: station.id,
    end: { shId: play.id, atMs: startMs },
    start: markQueueRowStart(change, planned.row, times, { filled_version: neverFilled }),
    planned: null
  }
}

/**
 * Plans the step of a station at `startMs`, and marks what it changes. Returns null if the station was silent
 * and remains so.
 */
function planStep(
  change: StationChange,
  { autodj, queue, library }: QueueContext,
  startMs: number
): Step | null {
  const { station, play } = change
  const plan = planQueue({
    library,
    running: {
      startedAtMs: play?.startedAtMs ?? startMs,
      endsAtMs: startMs,
      playlistId: null,
      isInterrupt: true
    },
    nowMs: startMs,
    queue,
    queueLength: autodj.queueLength + 1,
    rejected: new Set(),
    nextSeq: autodj.nextSeq
  })
  const { first, wakeAtMs } = plan
  const wake = { wake_at_ms: wakeAtMs, wake_version: autodj.libraryVersion }
  if (!first && !play) {
    // The change is not shown.
    change.mark([], wake)
    return null
  }
  const written = { stationId: station.id, planned: { plan, library } }
  const endAt = (atMs: number): PlayEnd | null => play && { shId: play.id, atMs }
  if (!first) {
    markSilent(change, wake)
    return { ...written, end: endAt(Math.min(startMs, play?.dueAtMs ?? startMs)), start: null }
  }
  const seq = first.seq ?? queue.find(({ id }) => id === first.id)?.seq
  if (seq === undefined) throw new Error(`station ${station.id}: the plan begins with an unknown row`)
  const times = { atMs: startMs, dueAtMs: Math.round(first.endsAtMs) }
  const filled = { next_seq: autodj.nextSeq + plan.insert.length, filled_version: autodj.libraryVersion }
  return {
    ...written,
    end: endAt(startMs),
    start: markQueueRowStart(change, { ...first, seq }, times, filled)
  }
}

/** The statements that write steps of different stations, in this order. */
function statementsOfSteps(tx: Tx, steps: readonly Step[]): Fragment[] {
  const ends = steps.flatMap(({ end }) => end ?? [])
  const starts = steps.flatMap(({ start }) => start ?? [])
  return [
    ...planStatements(
      tx,
      steps.flatMap(({ stationId, planned }) => (planned ? [{ stationId, plan: planned.plan }] : []))
    ),
    ...(starts.length > 0 ? [openHistoryRowsStatement(tx, starts, ends)] : []),
    ...(starts.length === 0 && ends.length > 0 ? [endPlaysStatement(tx, ends)] : []),
    ...steps.flatMap(({ planned }) =>
      planned?.plan.first ? endPassStatements(tx, planned.library, planned.plan.first) : []
    )
  ]
}
