import { readSimulationStart } from '../../engine/queue/simulation-start.ts'
import { simulateUntil } from '../../model/autodj/simulation/run.ts'
import { findScheduleWarnings } from '../../model/autodj/simulation/warnings.ts'
import { addLocalDays } from '../../model/autodj/time-zone.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { applyUnsavedPlaylists, type ChangedPlaylists, readPlaylistSources } from './apply-unsaved.ts'
import { renderSimulation } from './render-simulation.ts'
import type { UnsavedPlaylist } from './unsaved-playlists.ts'

/** What to simulate. It can be sent to a thread. */
export interface SimulationRequest {
  readonly stationId: number
  readonly nowMs: number
  /** Days since 1970-01-01, at whose midnight it starts; null: it continues from now. */
  readonly fromDay: number | null
  readonly days: number
  readonly unsaved: readonly UnsavedPlaylist[]
}

/**
 * Simulates a station with unsaved playlists, and returns the response as JSON; null for an unknown station.
 * CPU-bound: it blocks the thread. The simulation ends early after `budgetMs`.
 */
export async function simulateSchedule(
  sql: Sql,
  { stationId, nowMs, fromDay, days, unsaved }: SimulationRequest,
  budgetMs: number
): Promise<string | null> {
  let changed: ChangedPlaylists = { playlists: [], notLoaded: new Set() }
  const read = await sql.begin('isolation level repeatable read read only', async tx => {
    const sources = await readPlaylistSources(tx, stationId, unsaved)
    return readSimulationStart(tx, stationId, nowMs, fromDay, {
      changePlaylists: stored => (changed = applyUnsavedPlaylists(stored, sources, unsaved)).playlists
    })
  })
  if (!read) return null
  const { start, hasAutodj, playlists } = read
  const untilMs = addLocalDays(start.library.rules.zone, start.fromMs, days)
  const deadline = performance.now() + budgetMs
  const run = simulateUntil(
    hasAutodj ? start : { ...start, queue: [], library: { ...start.library, playlists: [], requests: [] } },
    untilMs,
    () => performance.now() < deadline
  )
  const warnings = findScheduleWarnings({ playlists, run, hasAutodj, notLoaded: changed.notLoaded })
  return JSON.stringify(renderSimulation({ run, isComplete: run.untilMs === untilMs, warnings }))
}
