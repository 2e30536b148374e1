import { advances } from '../platform/metrics/engine.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { changeStation, type StationChange } from './change-station.ts'
import { endUnreported } from './plays/provisional-plays.ts'
import { readForQueue, readForQueues, readQueueContext, type QueueReads } from './queue-context.ts'
import { refillQueue } from './queue/queue.ts'
import type { PlayoutServices } from './services.ts'
import { planStep, statementsOfSteps, stepWithoutPlanning } from './step.ts'

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

/** If a play ended longer ago, the next one starts now. Songs that were not heard are not replayed. */
const catchUpMs = 5_000

/** A play may be ended this much before its time, since clocks differ. */
const toleranceMs = 20

/** Ends a play and starts the next one. Idempotent: a concurrent or repeated call is a no-op. */
export async function advance(
  services: PlayoutServices,
  { stationId, ...request }: AdvanceRequest
): Promise<AdvanceResult> {
  try {
    const result = await changeStation(services, stationId, {
      reads: tx => readForQueues(tx, [stationId], services.libraries),
      change: (change, reads) => advancePlay(change, request, reads.get(stationId))
    })
    countAdvance(request.cause, result)
    return result
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'not-found') return outcomeOnly('deleted')
    throw error
  }
}

/** Adds an advance to the metrics. */
export function countAdvance(cause: AdvanceCause, { outcome }: AdvanceResult): void {
  advances.inc({ cause, outcome })
}

const outcomeOnly = (outcome: AdvanceOutcome): AdvanceResult => ({ outcome, earlyByMs: 0 })

/** Does what `advance` does, as part of a change. `reads` were sent with the lock. */
export async function advancePlay(
  change: StationChange,
  request: Omit<AdvanceRequest, 'stationId'>,
  reads?: QueueReads
): Promise<AdvanceResult> {
  const startMs = decideStart(change, request)
  if (typeof startMs !== 'number') return startMs
  if (!change.station.isClocked) return outcomeOnly(await endReported(change, reads))
  const step =
    (reads && stepWithoutPlanning(change, reads, startMs)) ??
    planStep(change, await readQueueContext(change, reads), startMs)
  if (!step) return outcomeOnly('silent')
  change.send(statementsOfSteps(change.tx, [step]))
  return outcomeOnly('advanced')
}

/**
 * Decides when the play ends and the next one starts (Unix milliseconds). Returns a result if it does not end
 * now.
 */
export function decideStart(
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
async function endReported(change: StationChange, reads?: QueueReads): Promise<AdvanceOutcome> {
  const { tx, station, play } = change
  if (!play) return 'silent'
  const { autodj, queue } = reads ?? (await readForQueue(tx, station.id, null))
  const outcome = await endUnreported(change, play, queue, autodj.overlapMs)
  await refillQueue(change, { isLibraryChanged: false })
  return outcome === 'ended' ? 'advanced' : 'postponed'
}
