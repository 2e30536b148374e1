import { artistKeys, titleKey } from '../../songs/duplicate-keys.ts'
import { songId, songText } from '../../songs/song.ts'
import type { StationChange } from '../change-station.ts'
import type { OpenPlay } from '../rows.ts'

/** Closes the history row of a play. */
export function endPlay({ tx }: StationChange, play: OpenPlay, atMs: number) {
  return tx`update song_history set ended_at_ms = ${atMs} where id = ${play.id}`
}

/** A row of the queue; one that was just inserted has a `seq` and no id. */
export interface QueueRowRef {
  readonly id: number | null
  readonly seq: number | null
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

/** Opens the history row of a queue row. `inserted`: the number of rows that a plan has just queued. */
export function startFromQueue(
  { tx, station, mark }: StationChange,
  row: QueueRowRef,
  airtime: PlayTimes,
  inserted: number | null
) {
  const { atMs, dueAtMs, endedAtMs = null, isProvisional = false } = airtime
  const { listenersTotal: total } = station
  mark(['playback', 'queue'], {
    wake_at_ms: null,
    ...(inserted === null
      ? {}
      : { next_seq: station.nextSeq + inserted, filled_version: station.libraryVersion })
  })
  const isRow =
    row.id === null ? tx`q.station_id = ${station.id} and q.seq = ${row.seq}` : tx`q.id = ${row.id}`
  return tx`
    with play as (
      insert into song_history (station_id, media_id, playlist_id, playlist, is_request, is_visible, song_id, artist,
        title, album, genre, isrc, duration_ms, started_at_ms, due_at_ms, ended_at_ms, is_bridged, listeners_start,
        listeners_end, listeners_peak, unique_listeners,
        track_id, pass, request_id, occurrence_ms, title_key,
        artist_keys)
      select q.station_id, q.media_id, q.playlist_id, coalesce(p.name, ''), q.is_request, q.is_visible, m.song_id,
        m.artist, m.title, m.album, m.genre, m.isrc, q.duration_ms, ${atMs}, ${dueAtMs}, ${endedAtMs},
        ${isProvisional}, ${total}, ${total}, ${total}, ${station.listenersUnique}, q.track_id, q.pass, q.request_id, q.occurrence_ms,
        m.title_key, m.artist_keys
      from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id
      where ${isRow}
      returning id
    ), taken as (
      update queue q set played_at_ms = ${atMs}, plays_at_ms = ${atMs}, skipped_at_ms = null,
        history_id = (select id from play)
      where ${isRow}
    ), heard as (
      update playlist_tracks set last_pass = greatest(last_pass, ${row.pass}), last_aired_ms = ${atMs}
      where id = ${row.trackId} and not ${isProvisional}
    )
    update requests set state = 'aired', ended_at_ms = ${atMs} where id = ${row.requestId} and not ${isProvisional}`
}

/** Marks the station as silent, until something may play at `wakeAtMs` (null: until the library changes). */
export function goSilent({ station, mark }: StationChange, wakeAtMs: number | null): void {
  mark(['playback'], { wake_at_ms: wakeAtMs, wake_version: station.libraryVersion })
}

/** A song that a playout, a streamer or a streaming server reported, and that was not queued. */
interface UnscheduledSong {
  readonly artist: string
  readonly title: string
  /** A media of the station; null: the one with the same artist and title, if any. */
  readonly mediaId: number | null
  readonly playlistId: number | null
  /** The streamer who plays it; empty: none. */
  readonly streamer: string
}

/** Opens the history row of a song that was not queued. The length of a streamer's song is unknown. */
export function startUnscheduled(
  { tx, station, mark }: StationChange,
  song: UnscheduledSong,
  airtime: PlayTimes
) {
  const { artist, title, mediaId, playlistId, streamer } = song
  const { atMs, dueAtMs, endedAtMs = null } = airtime
  const { listenersTotal: total } = station
  const id = songId(songText(artist, title))
  mark(['playback'], { wake_at_ms: null })
  const isNamed = mediaId === null || artist !== '' || title !== ''
  return tx`
    with m as (
      select id, song_id, artist, title, album, genre, isrc, duration_ms from media
      where station_id = ${station.id} and remote_playlist_id is null
        and ${mediaId === null ? tx`song_id = ${id}` : tx`id = ${mediaId}`}
      order by id limit 1
    )
    insert into song_history (station_id, media_id, playlist_id, playlist, streamer, song_id, artist, title, album,
        genre, isrc, duration_ms, started_at_ms, due_at_ms, ended_at_ms, listeners_start,
        listeners_end, listeners_peak, unique_listeners,
        title_key, artist_keys)
      select ${station.id}, m.id, p.id, coalesce(p.name, ''), ${streamer}, coalesce(m.song_id, ${id}),
        case when ${isNamed} then ${artist} else m.artist end, case when ${isNamed} then ${title} else m.title end,
        coalesce(m.album, ''), coalesce(m.genre, ''), coalesce(m.isrc, ''),
        case when ${streamer} = '' then coalesce(m.duration_ms, 0) else 0 end, ${atMs}, ${dueAtMs}, ${endedAtMs},
        ${total}, ${total}, ${total}, ${station.listenersUnique}, ${titleKey(title)}, ${artistKeys(artist)}
      from (select) as one left join m on true
        left join playlists p on p.id = ${playlistId} and p.station_id = ${station.id}`
}
