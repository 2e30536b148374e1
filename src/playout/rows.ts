import type { QueuedRow } from '../autodj/refill.ts'
import type { Tx } from '../db/sql.ts'

/** The settings a step needs. */
export interface LockedStation {
  readonly id: number
  /** The engine's own clock drives it, and it is switched on. */
  readonly isClocked: boolean
  readonly queueLength: number
  readonly randomSeed: number
  readonly nextSeq: number
  readonly listenersTotal: number
  readonly listenersUnique: number
}

/**
 * Takes the station's row: one step at a time. The lock lets inserts into tables that refer to the station pass,
 * so an import does not hold the engine up.
 */
export async function lockStation(tx: Tx, stationId: number): Promise<LockedStation | null> {
  const [station] = await tx<LockedStation[]>`
    select id, is_enabled and backend = 'clock' as "isClocked", queue_length as "queueLength",
      random_seed as "randomSeed", next_seq as "nextSeq", listeners_total as "listenersTotal",
      listeners_unique as "listenersUnique"
    from stations where id = ${stationId} for no key update`
  return station ?? null
}

/** The play that is on air. */
export interface OpenPlay {
  readonly id: number
  readonly songId: string
  readonly startedAtMs: number
  readonly dueAtMs: number | null
}

export async function readOpenPlay(tx: Tx, stationId: number): Promise<OpenPlay | null> {
  const [play] = await tx<OpenPlay[]>`
    select id, song_id as "songId", started_at_ms as "startedAtMs", due_at_ms as "dueAtMs"
    from song_history where station_id = ${stationId} and ended_at_ms is null`
  return play ?? null
}

export interface LiveRow extends QueuedRow {
  readonly seq: number
  readonly playlistId: number | null
  /** Taken from the pass after the playlist's current one. */
  readonly isOfNextPass: boolean
}

/** The rows of the queue that are still to be played, in order. */
export function readQueue(tx: Tx, stationId: number): Promise<LiveRow[]> {
  return tx<LiveRow[]>`
    select q.id, q.seq, q.playlist_id as "playlistId", q.track_id as "trackId", q.pass,
      coalesce(q.pass > p.pass, false) as "isOfNextPass", m.song_id as "songId",
      q.duration_ms as "durationMs", q.cued_at_ms as "cuedAtMs", q.plays_at_ms as "playsAtMs"
    from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id
    where q.station_id = ${stationId} and q.played_at_ms is null and q.skipped_at_ms is null
    order by q.seq`
}
