import { findPlannedStart, type PlannedStart } from '../../model/autodj/planned-start.ts'
import type { StationChange } from '../change-station.ts'
import { markStart } from '../plays/plays.ts'
import type { QueueReads } from '../queue-context.ts'
import type { UnplayedRow } from '../rows.ts'
import { hasCachedLibrary } from './libraries.ts'

/**
 * The first queued row, if the library of the station is not cached and the row can start without it. The
 * queue must have been planned for the current library. Null: the queue must be planned.
 */
export function findPlannedRow(
  { services, station, play, isPulledBack }: StationChange,
  { autodj, queue }: QueueReads,
  startMs: number
): PlannedStart<UnplayedRow> | null {
  const isFilled = autodj.filledVersion === autodj.libraryVersion
  if (!play || !isFilled || isPulledBack || hasCachedLibrary(services.libraries, station.id)) return null
  return findPlannedStart(queue, startMs, autodj.overlapMs)
}

/** Equals no version of a library, so that `refillQueues` plans the queue again. */
const neverFilled = -1

/** Marks the start of a row without a plan. `refillQueues` refills the queue later. */
export function markPlannedStart(
  change: StationChange,
  { row, endsAtMs }: PlannedStart<UnplayedRow>,
  startMs: number
) {
  const times = { atMs: startMs, dueAtMs: Math.round(endsAtMs) }
  return markStart(change, row, times, { filled_version: neverFilled })
}
