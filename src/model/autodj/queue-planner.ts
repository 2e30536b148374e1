import { findLastPlayOfPlaylist } from './due.ts'
import { airtimeMs, nextStartMs, overlapWithNextMs } from './durations.ts'
import { isEligibleRow, isFixedRow, isInPlaylist, isImprovableRow } from './eligibility.ts'
import { isInterruptOverdue } from './interrupt.ts'
import { type PlayOrRow, isExpiredRequest, isPlayablePlaylist, type AutodjLibrary } from './library.ts'
import type { DecisionLogEntry } from './log-entry.ts'
import { pickForSlot } from './pick.ts'
import { planDueInterrupt, planRowOrPreempt, planRequestRow } from './preemption.ts'
import {
  beginQueueDraft,
  type DraftRow,
  findInterruptMs,
  findPlaylistOfRow,
  hasQueueRoom,
  isInterruptBlocked,
  type NewQueueRow,
  openSlotRandom,
  nextSlot,
  appendDecision,
  type PlannerInput,
  appendRow,
  type QueueDraft,
  type QueuedRow,
  withdrawBatch
} from './queue-draft.ts'
import { nextHourlyTarget, findNextWindowStart } from './schedule.ts'
import { dayMs, minuteMs } from './time-zone.ts'

type PlannedTimes = Pick<QueuedRow, 'position' | 'cuedAtMs' | 'startsAtMs' | 'durationMs'>

interface MovedRow extends PlannedTimes {
  readonly id: number
  /** Why it plays at another time, if a row was inserted before it. */
  readonly log: readonly DecisionLogEntry[]
}

/** The changes of a queue. */
export interface QueuePlan {
  readonly withdraw: readonly number[]
  readonly insert: readonly NewQueueRow[]
  readonly move: readonly MovedRow[]
  /** When the current play ends, or the first row interrupts it. */
  readonly runningEndsMs: number
  /** The next row and its end; `seq` identifies a new row. */
  readonly first:
    | (PlayOrRow & { readonly id: number | null; readonly seq: number | null; readonly endsAtMs: number })
    | null
  /** When an empty queue may have a song; null if only a change of the library can help. */
  readonly wakeAtMs: number | null
}

const maxRows = 2_000

/**
 * Plans the queue of a station: withdraws rows that are not eligible in their slot, inserts what takes
 * precedence, fills the queue and updates all start times. Deterministic, and idempotent.
 *
 * - length of the queue: `hasQueueRoom` in `queue-draft.ts`
 * - choice of a song: `pick.ts`; avoiding duplicates: `duplicates.ts`, `candidates.ts`
 * - whether a row stays: `eligibility.ts`; what goes before it: `preemption.ts`
 */
export function planQueue(input: PlannerInput): QueuePlan {
  const steps = planQueueInSteps(input)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

/**
 * Plans as `planQueue` does, in steps of which each chooses at most one song: that takes milliseconds in a large
 * library.
 */
export function* planQueueInSteps(input: PlannerInput): Generator<void, QueuePlan> {
  const { library, nowMs, queue } = input
  const draft = beginQueueDraft(input)
  for (const row of queue) if (!hasTrack(draft, row)) draft.withdrawn.add(row.id)
  draft.remaining = queue.filter(row => !draft.withdrawn.has(row.id))
  const runningEndsMs = findRunningEnd(draft)
  draft.atMs = runningEndsMs
  let isEmpty = false
  while (!isEmpty && draft.planned.length < maxRows) {
    yield
    if (hasQueueRoom(draft) && planDueInterrupt(draft)) continue
    const [row, next] = draft.remaining
    if (!row) {
      if (!hasQueueRoom(draft)) break
      isEmpty = !fillSlot(draft)
    } else if (isFixedRow(draft, row)) appendRow(draft, row)
    else if (row.requestId !== null) planRequestRow(draft, row)
    else if (!isEligibleRow(draft, row)) {
      // An interrupt may be due after the next row.
      if (row.isInterrupt && next && !next.isInterrupt)
        draft.remaining = [next, row, ...draft.remaining.slice(2)]
      else withdrawBatch(draft, row)
    } else if (isImprovableRow(draft, row)) withdrawBatch(draft, row)
    else planRowOrPreempt(draft, row)
  }
  const [first] = draft.planned
  return {
    ...assignPositions(draft),
    withdraw: [...draft.withdrawn],
    runningEndsMs,
    first: first
      ? { ...first, seq: first.id === null ? first.seq : null, endsAtMs: draft.firstEndsMs }
      : null,
    wakeAtMs: isEmpty && !first ? findWakeTime(library, nowMs) : null
  }
}

/** Whether the playlist of a row still contains its track. Applies to batches that have begun as well. */
function hasTrack(draft: QueueDraft, row: DraftRow): boolean {
  if (row.isSent || row.isManual || row.requestId !== null) return true
  const playlist = findPlaylistOfRow(draft, row)
  return playlist !== undefined && isInPlaylist(row, playlist)
}

/** When the current play ends or is interrupted. */
function findRunningEnd(draft: QueueDraft): number {
  const { running, nowMs } = draft.input
  const { startedAtMs, endsAtMs } = running
  const isOverdue = () => isInterruptOverdue(running, nextSlot(draft, nowMs))
  if (endsAtMs > nowMs && !isInterruptBlocked(draft) && isOverdue()) return nowMs
  return findInterruptMs(draft, running, Math.max(nowMs, startedAtMs), endsAtMs) ?? endsAtMs
}

/** Adds a row for the next slot. Returns false if nothing may play. */
function fillSlot(draft: QueueDraft): boolean {
  const why = draft.addedCount < draft.withdrawn.size ? 'replaced' : 'fill'
  const decision = pickForSlot(nextSlot(draft), openSlotRandom(draft), why)
  if (decision) appendDecision(draft, decision)
  return decision !== null
}

const maxWakeMs = 32 * dayMs
/** Delay after which a request that is due but not eligible is checked again. */
const requestRetryMs = minuteMs

/** When a silent station may have something to play, or null if only a change of its library can help. */
function findWakeTime(library: AutodjLibrary, nowMs: number): number | null {
  const { playlists, requests, rules } = library
  const slot = { library, rowsBefore: [], rowsAfter: [], atMs: nowMs, rejected: new Set<number>() }
  const times = requests
    .filter(request => !isExpiredRequest(request, slot))
    .map(({ dueAtMs }) => (dueAtMs > nowMs ? dueAtMs : nowMs + requestRetryMs))
  for (const { id, schedule, type, everyMinutes, hourMinute } of playlists.filter(isPlayablePlaylist)) {
    if (schedule.length > 0)
      times.push(findNextWindowStart(rules.zone, schedule, nowMs, maxWakeMs) ?? Infinity)
    if (type === 'once_per_hour') times.push(nextHourlyTarget(rules.zone, hourMinute, nowMs))
    const last = type === 'once_per_x_minutes' && everyMinutes > 0 ? findLastPlayOfPlaylist(slot, id) : null
    if (last) times.push(last.startsAtMs + everyMinutes * minuteMs)
  }
  const next = Math.min(...times.filter(time => time > nowMs))
  return Number.isFinite(next) ? next : null
}

/** Assigns increasing positions. Rows keep their position if possible. */
function assignPositions({ input, planned, moveReasons }: QueueDraft): {
  insert: NewQueueRow[]
  move: MovedRow[]
} {
  const { queue, nextSeq } = input
  const insert: NewQueueRow[] = []
  const move: MovedRow[] = []
  const original = new Map(queue.map(row => [row.id, row]))
  let position = queue.reduce((least, row) => Math.min(least, row.position), nextSeq) - 1
  for (const row of planned) {
    if (row.id === null) {
      position++
      const { id: _id, isSent: _sent, isManual: _manual, ...rest } = row
      insert.push({ ...rest, position })
      continue
    }
    position = Math.max(position + 1, row.position)
    const before = original.get(row.id)
    const { id, cuedAtMs, startsAtMs, durationMs } = row
    const isUnchanged =
      before?.position === position &&
      before.cuedAtMs === cuedAtMs &&
      before.startsAtMs === startsAtMs &&
      before.durationMs === durationMs
    if (!before || isUnchanged) continue
    const from = Math.floor(before.startsAtMs / 1_000)
    const to = Math.floor(startsAtMs / 1_000)
    const why = moveReasons.get(id)
    const log: DecisionLogEntry[] = why !== undefined && from !== to ? [{ step: 'moved', from, to, why }] : []
    move.push({ id, position, cuedAtMs, startsAtMs, durationMs, log })
  }
  return { insert, move }
}

/** A queued row that starts as it was planned. */
export interface PlannedStart<Row extends QueuedRow> {
  readonly row: Row
  /** When it ends, or the next row interrupts it. */
  readonly endsAtMs: number
}

/** Plans are stored in whole milliseconds, and a play may be ended this much early. */
const toleranceMs = 20

/**
 * Finds the first row of a queue, if it can start at `startMs` without a new plan: the queue was planned for
 * that time, so interrupts and requests that are due are already in it. A row may also start late, but before
 * the planned start of the next one, unless it interrupts or was requested. Returns null if the queue must be
 * planned: always for scheduled rows, because a plan may end them early.
 */
export function findPlannedStart<Row extends QueuedRow>(
  [row, next]: readonly Row[],
  startMs: number,
  overlapMs: number
): PlannedStart<Row> | null {
  if (!row || row.occurrenceMs !== null) return null
  const untilMs = next ? next.startsAtMs : row.startsAtMs + airtimeMs(row.durationMs)
  if (startMs < row.startsAtMs - toleranceMs || startMs >= untilMs) return null
  if (startMs > row.startsAtMs + toleranceMs && isBoundToTime(row)) return null
  const endsAtMs = nextStartMs(startMs, row.durationMs, overlapWithNextMs(row, overlapMs))
  return { row, endsAtMs: next?.isInterrupt ? Math.min(endsAtMs, untilMs) : endsAtMs }
}

/** Whether a row interrupts or was requested. */
const isBoundToTime = ({ isInterrupt, requestId }: QueuedRow) => isInterrupt || requestId !== null
