import { airtimeMs, nextStartMs } from '../../autodj/durations.ts'
import type { StationChange } from '../change-station.ts'
import { startFromQueue } from '../plays/plays.ts'
import type { UnplayedRow } from '../rows.ts'
import { findCopy } from './libraries.ts'

/** A queued row that starts as planned. */
export interface PlannedStart {
  readonly row: UnplayedRow
  /** When it ends, or the next row interrupts it. */
  readonly dueAtMs: number
}

/** Plans are in whole milliseconds, and a play may be ended this much early. */
const toleranceMs = 20

/**
 * The first queued row of a station whose library is not cached, if it can start without a plan: the queue was
 * planned for the current library, and the row for this time. What is due at this time, an interrupt or a
 * request, then has a place in the queue already. After an outage a row may start late, until the next row
 * was planned to start: as if it had started in time. Rows that are bound to their time need a plan then.
 * Null: a plan is needed.
 */
export function findPlannedStart(
  { services, station, play, isPulledBack }: StationChange,
  [row, next]: readonly UnplayedRow[],
  startMs: number
): PlannedStart | null {
  if (!row || !play || isPulledBack || findCopy(services.libraries, station.id)) return null
  if (station.filledVersion !== station.libraryVersion) return null
  const endMs = next ? next.startsAtMs : row.startsAtMs + airtimeMs(row.durationMs)
  if (startMs < row.startsAtMs - toleranceMs || startMs >= endMs) return null
  if (startMs > row.startsAtMs + toleranceMs && isBoundToTime(row)) return null
  const naturalEndMs = nextStartMs(startMs, row.durationMs, station.overlapMs)
  return { row, dueAtMs: Math.round(next?.isInterrupt ? Math.min(naturalEndMs, endMs) : naturalEndMs) }
}

/** Whether a row belongs to a scheduled period, interrupts, or was requested. */
const isBoundToTime = ({ occurrenceMs, isInterrupt, requestId }: UnplayedRow) =>
  occurrenceMs !== null || isInterrupt || requestId !== null

/** No version of a library. The sweep plans the queue of a station with it again. */
const neverFilled = -1

/** Starts a row without a plan. The sweep refills the queue. */
export function startPlanned(change: StationChange, { row, dueAtMs }: PlannedStart, startMs: number) {
  const started = startFromQueue(change, row, { atMs: startMs, dueAtMs }, null)
  change.mark([], { filled_version: neverFilled })
  return started
}
