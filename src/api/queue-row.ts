import type { LogEntry } from '../autodj/log-entry.ts'
import { definedFields, songOf } from '../db/facts.ts'
import type { Sql } from '../db/sql.ts'
import { renderSong } from '../station/now-playing.ts'
import type { Song } from '../station/state.ts'
import type { StationRow } from './route.ts'

/** A row of the queue as it is read. */
export interface QueueRow {
  id: number
  cuedAt: number
  playedAt: number
  duration: number
  playlist: string
  isRequest: boolean
  isSent: boolean
  isPlayed: boolean
  customUri: string
  log: LogEntry[]
  song: Song
  customFields: { id: number; shortName: string }[]
}

/** The beginning of a statement that reads rows: `q` is the queue, `m` the media. */
export const selectRows = (sql: Sql) => sql`
  select q.id, q.cued_at_ms / 1000 as "cuedAt", q.plays_at_ms / 1000 as "playedAt", q.duration_ms / 1000 as duration,
    coalesce(p.name, '') as playlist, q.is_request as "isRequest", q.is_sent as "isSent",
    q.played_at_ms is not null as "isPlayed", q.autodj_custom_uri as "customUri", q.log,
    ${songOf(sql)} as song, ${definedFields(sql)} as "customFields"
  from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id`

/** The queue item of the interface (11 keys). */
export function renderRow(row: QueueRow, station: StationRow, baseUrl: string) {
  return {
    cued_at: row.cuedAt,
    played_at: row.playedAt,
    duration: row.duration,
    playlist: row.playlist,
    is_request: row.isRequest,
    song: renderSong(row.song, { ...station, customFields: row.customFields }, 'rest', baseUrl),
    links: { self: `${baseUrl}/api/station/${station.id}/queue/${row.id}` },
    sent_to_autodj: row.isSent,
    is_played: row.isPlayed,
    autodj_custom_uri: row.customUri,
    log: row.log
  }
}
