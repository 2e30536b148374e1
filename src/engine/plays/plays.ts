import type { Tx } from '../../stores/db/sql.ts'
import type { StationChange } from '../change-station.ts'
import type { OpenPlay, StationColumns, StationFacts } from '../station-facts.ts'

/** The end of a play. */
export interface PlayEnd {
  readonly shId: number
  readonly atMs: number
}

/** Closes the history row of a play. */
export function endPlayStatement({ tx }: StationChange, play: OpenPlay, atMs: number) {
  return endPlaysStatement(tx, [{ shId: play.id, atMs }])
}

/** Closes the history rows of plays. */
export function endPlaysStatement(tx: Tx, ends: readonly PlayEnd[]) {
  return tx`
    update song_history h set ended_at_ms = x.at_ms
    from unnest(${ends.map(({ shId }) => shId)}::bigint[], ${ends.map(({ atMs }) => atMs)}::bigint[]) as x (id, at_ms)
    where h.id = x.id`
}

/** A row of the queue; `seq` is its slot. */
export interface QueueRowRef {
  readonly seq: number
  readonly pass: number
  readonly trackId: number | null
  readonly requestId: number | null
}

/** When a play began, has to be ended by the clock (null: only a report ends it), and ended, if it has. */
export interface PlayTimes {
  readonly atMs: number
  readonly dueAtMs: number | null
  readonly endedAtMs?: number
  /** It is provisional: its track and request are updated when a report confirms it. */
  readonly isProvisional?: boolean
}

/** A queue row that starts to play. */
export interface QueueStart {
  readonly station: StationFacts
  readonly row: QueueRowRef
  readonly times: PlayTimes
}

/** Opens the history row of a queue row. */
export function startQueueRowStatement(change: StationChange, row: QueueRowRef, times: PlayTimes) {
  return openHistoryRowsStatement(change.tx, [markQueueRowStart(change, row, times)])
}

/**
 * Marks what the start of a queue row changes, with `columns` of the station. `openHistoryRowsStatement` writes the start.
 */
export function markQueueRowStart(
  { station, mark }: StationChange,
  row: QueueRowRef,
  times: PlayTimes,
  columns: StationColumns = {}
): QueueStart {
  mark(['playback', 'queue'], { wake_at_ms: null, ...columns })
  return { station, row, times }
}

/**
 * The statement that opens the history rows of queue rows, at most one of each station, after it has closed those of
 * plays that end.
 */
export function openHistoryRowsStatement(
  tx: Tx,
  starts: readonly QueueStart[],
  ends: readonly PlayEnd[] = []
) {
  const column = <Value>(value: (start: QueueStart) => Value) => starts.map(value)
  return tx`
    with ended as (${endPlaysStatement(tx, ends)} returning h.id), x as materialized (
      select * from unnest(${column(({ station }) => station.id)}::bigint[],
        ${column(({ row }) => row.seq)}::bigint[], ${column(({ row }) => row.pass)}::bigint[],
        ${column(({ row }) => row.trackId)}::bigint[], ${column(({ row }) => row.requestId)}::bigint[],
        ${column(({ times }) => times.atMs)}::bigint[], ${column(({ times }) => times.dueAtMs)}::bigint[],
        ${column(({ times }) => times.endedAtMs ?? null)}::bigint[],
        ${tx.array(column(({ times }) => times.isProvisional ?? false))}::boolean[],
        ${column(({ station }) => station.listenersTotal)}::integer[],
        ${column(({ station }) => station.listenersUnique)}::integer[])
        as x (station_id, seq, pass, track_id, request_id, at_ms, due_at_ms, ended_at_ms, is_provisional, total, uniques)
    ), play as (
      insert into song_history (station_id, media_id, playlist_id, playlist, is_request, is_visible, song_id, artist,
        title, album, genre, isrc, duration_ms, started_at_ms, due_at_ms, ended_at_ms, is_bridged, listeners_start,
        listeners_end, listeners_peak, unique_listeners,
        track_id, pass, request_id, occurrence_ms, title_key,
        artist_keys)
      select q.station_id, q.media_id, q.playlist_id,
        coalesce((select p.name from playlists p where p.id = q.playlist_id), ''), q.is_request, q.is_visible, m.song_id,
        m.artist, m.title, m.album, m.genre, m.isrc, q.duration_ms, x.at_ms, x.due_at_ms, x.ended_at_ms,
        x.is_provisional, x.total, x.total, x.total, x.uniques, q.track_id, q.pass, q.request_id, q.occurrence_ms,
        m.title_key, m.artist_keys
      from x
        -- Row by row: otherwise Postgres might go through all rows of these tables.
        cross join lateral (select * from queue where station_id = x.station_id and seq = x.seq limit 1) q
        cross join lateral (select * from media where id = q.media_id limit 1) m
      -- Counted before the first row is inserted, because a station has only one open play.
      where (select count(*) from ended) >= 0
      returning id, station_id
    ), taken as (
      update queue q set played_at_ms = x.at_ms, plays_at_ms = x.at_ms, skipped_at_ms = null, history_id = play.id
      from x join play on play.station_id = x.station_id
      where q.station_id = x.station_id and q.seq = x.seq
    ), heard as (
      update playlist_tracks t set last_pass = greatest(t.last_pass, x.pass), last_aired_ms = x.at_ms
      from x where t.id = x.track_id and not x.is_provisional
    )
    update requests r set state = 'aired', ended_at_ms = x.at_ms
    from x where r.id = x.request_id and not x.is_provisional`
}

/** Marks the station as silent. `columns`: when the clock looks for something to play again. */
export function markSilent({ mark }: StationChange, columns: StationColumns = { wake_at_ms: null }): void {
  mark(['playback'], columns)
}
