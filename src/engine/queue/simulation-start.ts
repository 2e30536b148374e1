import type { AutodjRules, Playlist } from '../../model/autodj/library.ts'
import type { SimulationStart } from '../../model/autodj/simulate.ts'
import { readPlaylists } from '../../stores/db/library/library.ts'
import type { Tx } from '../../stores/db/sql.ts'
import {
  readAutodjFacts,
  readQueueRows,
  readRemovedRows,
  readUnplayedRequests,
  toAutodjRules
} from '../queue-context.ts'
import { nextPlayAtMs, readStationsOnAir } from '../station-facts.ts'
import { toLibraryPast, readLibraryPast } from './library-past.ts'

/** What a simulation changes of a station. */
export interface SimulationOverrides {
  /** Replaces those of the station; null: no change. */
  readonly zone?: AutodjRules['zone'] | null
  readonly seed?: number | null
  /** Changes the playlists, which include disabled ones. */
  readonly changePlaylists?: (stored: readonly Playlist[]) => readonly Playlist[]
}

/** A station to be simulated. */
export interface StationToSimulate {
  readonly start: SimulationStart
  /** All playlists, with the changes; the AutoDJ uses only those in `start`. */
  readonly playlists: readonly Playlist[]
  /** Whether the AutoDJ of the station plans a queue. */
  readonly hasAutodj: boolean
}

/**
 * Reads a station for a simulation. It continues from the current play and queue, or begins at midnight of
 * the local date `fromDay` with an empty queue. Returns null if the station does not exist.
 */
export async function readSimulationStart(
  tx: Tx,
  stationId: number,
  nowMs: number,
  fromDay: number | null,
  { zone = null, seed = null, changePlaylists = stored => stored }: SimulationOverrides
): Promise<StationToSimulate | null> {
  const ids = [stationId]
  const [[onAir], [autodj]] = await Promise.all([readStationsOnAir(tx, ids), readAutodjFacts(tx, ids)])
  if (!onAir || !autodj) return null
  const own = toAutodjRules(autodj)
  const rules = { ...own, zone: zone ?? own.zone, seed: seed ?? own.seed }
  const { play } = onAir
  const endsAtMs = play ? (play.dueAtMs ?? nextPlayAtMs(play, rules.overlapMs)) : nowMs
  const fromMs = fromDay === null ? Math.max(nowMs, endsAtMs) : rules.zone.instant(fromDay, 0, 'first')
  const stored = await readPlaylists(tx, ids, { hasInactive: true })
  const playlists = changePlaylists(stored.get(stationId) ?? [])
  const active = playlists.filter(({ isEnabled, type }) => isEnabled && type !== 'custom')
  const past = await readLibraryPast(tx, autodj, Math.min(nowMs, fromMs), active)
  const removed = await readRemovedRows(tx, ids, nowMs)
  return {
    playlists,
    hasAutodj: autodj.hasAutodj,
    start: {
      library: {
        rules,
        playlists: active,
        past: toLibraryPast({ ...past, plays: past.plays.filter(each => each.startsAtMs < fromMs) }, removed),
        requests: await readUnplayedRequests(tx, ids)
      },
      queue: fromDay === null ? await readQueueRows(tx, ids) : [],
      startedAtMs: fromDay === null && play ? play.startedAtMs : fromMs,
      fromMs,
      queueLength: autodj.queueLength,
      nextSeq: autodj.nextSeq
    }
  }
}
