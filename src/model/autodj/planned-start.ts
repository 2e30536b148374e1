import { airtimeMs, nextStartMs, overlapWithNextMs } from './durations.ts'
import type { QueuedRow } from './queue-draft.ts'

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
