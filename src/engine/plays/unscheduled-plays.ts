import { artistKeys, titleKey } from '../../model/songs/duplicate-keys.ts'
import { computeSongId, formatSongText } from '../../model/songs/song.ts'
import { onAirMsFragment } from '../../stores/db/library/cue-columns.ts'
import type { StationChange } from '../change-station.ts'
import type { PlayTimes } from './plays.ts'

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

/**
 * Opens the history row of a song that was not queued. The length of a streamer's song is unknown. The file of a media
 * may list more artists than the reported text names.
 */
export function startUnscheduledPlay(
  { tx, station, mark }: StationChange,
  song: UnscheduledSong,
  airtime: PlayTimes
) {
  const { artist, title, mediaId, playlistId, streamer } = song
  const { atMs, dueAtMs, endedAtMs = null } = airtime
  const { listenersTotal: total } = station
  const id = computeSongId(formatSongText(artist, title))
  mark(['playback'], { wake_at_ms: null })
  const isNamed = mediaId === null || artist !== '' || title !== ''
  return tx`
    with m as (
      select id, song_id, artist, title, album, genre, isrc, ${onAirMsFragment(tx)} as duration_ms, title_key, artist_keys,
        song_id = ${id} or not ${isNamed} as is_same
      from media m
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
        ${total}, ${total}, ${total}, ${station.listenersUnique},
        case when m.is_same then m.title_key else ${titleKey(title)} end,
        case when m.is_same then m.artist_keys else ${artistKeys(artist)}::bigint[] end
      from (select) as one left join m on true
        left join playlists p on p.id = ${playlistId} and p.station_id = ${station.id}`
}
