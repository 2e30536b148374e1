import { setTimeout as sleep } from 'node:timers/promises'

import { forStationsTogether } from '../../platform/isolation/for-each-station.ts'
import { literalLimit } from '../../stores/db/batches.ts'
import { readAutodjFacts } from '../queue-context.ts'
import type { EngineServices } from '../services.ts'
import { cacheLibrary, hasCachedLibrary, loadLibraries } from './library-cache.ts'

export type PreloadServices = Pick<EngineServices, 'sql' | 'libraries' | 'stationFaults'>

/** Libraries are loaded for the plays that end within this time. */
const aheadMs = 30_000
/** Decoding more libraries at once would delay songs that are due. */
const stationsPerBatch = 5
/** Share of the time in which libraries are loaded; the rest is left to songs that are due. */
const busyShare = 0.5
const stationsAtMost = 10_000

/**
 * Loads the libraries that the next songs need and that are not cached, one batch at a time, in the order in
 * which the current plays end. Stops when they fill half of the cache, because more would evict libraries
 * that are needed earlier.
 */
export async function preloadLibraries(
  services: PreloadServices,
  nowMs: number,
  signal?: AbortSignal
): Promise<void> {
  const { libraries } = services
  const stationIds = await findNextStations(services, nowMs + aheadMs)
  let bytes = 0
  for (let start = 0; start < stationIds.length; start += stationsPerBatch) {
    signal?.throwIfAborted()
    const batch = stationIds.slice(start, start + stationsPerBatch)
    const startedAtMs = performance.now()
    const isLoaded = await loadMissingLibraries(services, batch, nowMs)
    bytes += batch.reduce((sum, id) => sum + (libraries.copies.get(id)?.bytes ?? 0), 0)
    if (bytes > libraries.bytesAtMost / 2) return
    if (isLoaded) await sleep((performance.now() - startedAtMs) * (1 / busyShare - 1))
  }
}

/** The stations with an AutoDJ whose plays end before a time, the first one first. */
async function findNextStations({ sql, libraries }: PreloadServices, beforeMs: number): Promise<number[]> {
  const next = await sql<{ id: number }[]>`
    select station_id as id from song_history where ended_at_ms is null and due_at_ms < ${beforeMs}
    order by due_at_ms ${literalLimit(sql, stationsAtMost)}`
  // In the same statement, Postgres would read every station.
  const unknown = next.flatMap(({ id }) => (hasCachedLibrary(libraries, id) ? [] : [id]))
  if (unknown.length === 0) return next.map(({ id }) => id)
  const others = await sql<{ id: number }[]>`
    select id from stations where id = any(${unknown}::bigint[]) and (not is_enabled or backend = 'none')`
  const isOther = new Set(others.map(({ id }) => id))
  return next.flatMap(({ id }) => (isOther.has(id) ? [] : [id]))
}

/**
 * Loads the libraries of stations that are not cached, in one transaction that sees a single state. Returns
 * whether there were any.
 */
export async function loadMissingLibraries(
  services: PreloadServices,
  stationIds: readonly number[],
  nowMs: number
): Promise<boolean> {
  const { libraries } = services
  const missing = stationIds.filter(id => !hasCachedLibrary(libraries, id))
  if (missing.length === 0) return false
  await forStationsTogether(services, 'preload', missing, ids => loadTogether(services, ids, nowMs))
  return true
}

async function loadTogether(
  { sql, libraries }: PreloadServices,
  stationIds: readonly number[],
  nowMs: number
): Promise<void> {
  const loaded = await sql.begin('isolation level repeatable read read only', async tx => {
    const stations = await readAutodjFacts(tx, stationIds)
    return loadLibraries(
      tx,
      stations.filter(({ hasAutodj }) => hasAutodj),
      nowMs
    )
  })
  for (const id of stationIds) {
    const library = loaded.get(id)
    // One that was cached meanwhile is newer.
    if (library && !hasCachedLibrary(libraries, id)) cacheLibrary(libraries, id, library)
  }
}
