import { artistKeys, titleKey } from '../songs/clash-keys.ts'
import { songId, songText } from '../songs/song-id.ts'
import type { StationChange } from './change-station.ts'
import { startColumns, startValues } from './play-statistics.ts'
import type { Airtime } from './plays.ts'

/** A song of which a playout, a streamer or a streaming server has told. */
export interface ToldSong {
  readonly artist: string
  readonly title: string
  /** A media of the station; null: whichever is called so, if any. */
  readonly mediaId: number | null
  readonly playlistId: number | null
  /** Who plays it; empty: no streamer. */
  readonly streamer: string
}

/**
 * Opens the history row of a song that was not in the queue. What is known of it is its media's, the text that was told
 * stays; its length is known where no streamer plays it, who may stop at any time.
 */
export function startTold({ tx, station, mark }: StationChange, song: ToldSong, airtime: Airtime) {
  const { artist, title, mediaId, playlistId, streamer } = song
  const { atMs, dueAtMs, endedAtMs = null } = airtime
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
        genre, isrc, duration_ms, started_at_ms, due_at_ms, ended_at_ms, ${startColumns(tx)},
        title_key, artist_keys)
      select ${station.id}, m.id, p.id, coalesce(p.name, ''), ${streamer}, coalesce(m.song_id, ${id}),
        case when ${isNamed} then ${artist} else m.artist end, case when ${isNamed} then ${title} else m.title end,
        coalesce(m.album, ''), coalesce(m.genre, ''), coalesce(m.isrc, ''),
        case when ${streamer} = '' then coalesce(m.duration_ms, 0) else 0 end, ${atMs}, ${dueAtMs}, ${endedAtMs},
        ${startValues(tx, station)}, ${titleKey(title)}, ${artistKeys(artist)}
      from (select) as one left join m on true
        left join playlists p on p.id = ${playlistId} and p.station_id = ${station.id}`
}
