import { artId, customFieldValues, definedFields } from '../db/facts.ts'
import type { Fragment, Sql } from '../db/sql.ts'
import { renderSong } from '../station/now-playing.ts'
import type { Song } from '../station/state.ts'
import type { StationRow } from './route.ts'

/** A play of the history. The statistics of its listeners are as in the answer of the detailed history. */
export interface PlayedRow {
  readonly shId: number
  readonly playedAt: number
  readonly duration: number
  readonly playlist: string
  readonly streamer: string
  readonly isRequest: boolean
  readonly song: Song
  readonly customFields: { id: number; shortName: string }[]
  readonly statistics: PlayStatistics
}

export interface PlayStatistics {
  readonly listeners_start: number
  readonly listeners_end: number
  readonly delta_total: number
  readonly delta_positive: number
  readonly delta_negative: number
  readonly listeners_peak: number
  readonly unique_listeners: number
  readonly is_visible: boolean
}

/** The length of a play, in seconds: what is known of it, else how long it ran. */
export const playedSeconds = (sql: Sql): Fragment => sql`
  (case when h.duration_ms = 0 and h.ended_at_ms is not null then h.ended_at_ms - h.started_at_ms
    else h.duration_ms end) / 1000`

/** Plays, newest first, as on now playing: the text is that of the play, what else is known of the song is that of its media. */
export const selectPlays = (sql: Sql, plays: Fragment): Fragment => sql`
  select h.id as "shId", h.started_at_ms / 1000 as "playedAt", ${playedSeconds(sql)} as duration,
    h.playlist, h.streamer, h.is_request as "isRequest",
    jsonb_build_object('id', h.song_id, 'artist', h.artist, 'title', h.title, 'album', h.album, 'genre', h.genre,
      'isrc', h.isrc, 'lyrics', coalesce(m.lyrics, ''), 'artId', ${artId(sql)},
      'customFields', ${customFieldValues(sql)}) as song,
    ${definedFields(sql)} as "customFields",
    jsonb_build_object('listeners_start', h.listeners_start, 'listeners_end', h.listeners_end,
      'delta_total', h.listeners_end - h.listeners_start, 'delta_positive', h.delta_positive,
      'delta_negative', h.delta_negative, 'listeners_peak', h.listeners_peak,
      'unique_listeners', h.unique_listeners, 'is_visible', h.is_visible) as statistics
  from (${plays}) h left join media m on m.id = h.media_id
  order by h.station_id desc, h.started_at_ms desc, h.id desc`

/** A play as now playing shows it. */
export function renderPlay(row: PlayedRow, station: StationRow, baseUrl: string) {
  return {
    sh_id: row.shId,
    played_at: row.playedAt,
    duration: row.duration,
    playlist: row.playlist,
    streamer: row.streamer,
    is_request: row.isRequest,
    song: renderSong(row.song, { ...station, customFields: row.customFields }, 'rest', baseUrl)
  }
}

/** The same with what is known of its listeners. */
export function renderDetailedPlay(row: PlayedRow, station: StationRow, baseUrl: string) {
  return { ...renderPlay(row, station, baseUrl), ...row.statistics }
}
