import type { Library } from '../model/autodj/library.ts'
import { planQueue, type QueuePlan } from '../model/autodj/queue-planner.ts'
import type { Tx } from '../stores/db/sql.ts'
import type { PendingStatement, StationChange } from './change-station.ts'
import {
  markStart,
  endPlays,
  goSilent,
  type PlayEnd,
  type QueueStart,
  openHistoryRows
} from './plays/plays.ts'
import type { QueueContext, QueueReads } from './queue-context.ts'
import { endPass } from './queue/passes.ts'
import { statementsOfPlans } from './queue/plan-statements.ts'
import { markPlannedStart, findPlannedRow } from './queue/planned-row.ts'

/** What is written when a play of the AutoDJ ends and the next one starts. */
export interface Step {
  readonly stationId: number
  /** The play that ends; null: the station was silent. */
  readonly end: PlayEnd | null
  /** The play that starts; null: the station becomes silent. */
  readonly start: QueueStart | null
  /** The plan of the queue, and the library that it was made from; null: the queue keeps its plan. */
  readonly planned: { readonly plan: QueuePlan; readonly library: Library } | null
}

/**
 * Builds the step that starts the first queued row as it was planned. Null: the queue must be planned.
 */
export function stepWithoutPlanning(change: StationChange, reads: QueueReads, startMs: number): Step | null {
  const planned = findPlannedRow(change, reads, startMs)
  if (!planned) return null
  return {
    stationId: change.station.id,
    end: endAt(change, startMs),
    start: markPlannedStart(change, planned, startMs),
    planned: null
  }
}

const endAt = ({ play }: StationChange, atMs: number): PlayEnd | null => play && { shId: play.id, atMs }

/**
 * Plans the step of a station at `startMs`, and marks what it changes. Returns null if the station was silent
 * and remains so.
 */
export function planStep(
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
  if (!first) {
    goSilent(change, wake)
    const endMs = Math.min(startMs, play?.dueAtMs ?? startMs)
    return { ...written, end: endAt(change, endMs), start: null }
  }
  const seq = first.seq ?? queue.find(({ id }) => id === first.id)?.seq
  if (seq === undefined) throw new Error(`station ${station.id}: the plan begins with an unknown row`)
  const times = { atMs: startMs, dueAtMs: Math.round(first.endsAtMs) }
  const filled = { next_seq: autodj.nextSeq + plan.insert.length, filled_version: autodj.libraryVersion }
  return {
    ...written,
    end: endAt(change, startMs),
    start: markStart(change, { ...first, seq }, times, filled)
  }
}

/** The statements that write steps of different stations, in this order. */
export function statementsOfSteps(tx: Tx, steps: readonly Step[]): PendingStatement[] {
  const ends = steps.flatMap(({ end }) => end ?? [])
  const starts = steps.flatMap(({ start }) => start ?? [])
  return [
    ...statementsOfPlans(
      tx,
      steps.flatMap(({ stationId, planned }) => (planned ? [{ stationId, plan: planned.plan }] : []))
    ),
    ...(starts.length > 0 ? [openHistoryRows(tx, starts, ends)] : []),
    ...(starts.length === 0 && ends.length > 0 ? [endPlays(tx, ends)] : []),
    ...steps.flatMap(({ planned }) =>
      planned?.plan.first ? endPass(tx, planned.library, planned.plan.first) : []
    )
  ]
}
