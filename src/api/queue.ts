import type { LogEntry } from '../autodj/pick.ts'
import { artId, customFieldValues } from '../db/facts.ts'
import type { Sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { removeFromQueue } from '../playout/queue.ts'
import { renderSong } from '../station/now-playing.ts'
import type { Song } from '../station/state.ts'
import { findStation, parseId, type StationRow } from './parse.ts'
import { actionResult, json, type Route } from './route.ts'
import type { ApiServices } from './services.ts'

/** Rows that were played can be read this long. */
const readableMs = 7 * 86_400_000

interface QueueRow {
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

const selectRows = (sql: Sql) => sql`
  select q.id, q.cued_at_ms / 1000 as "cuedAt", q.plays_at_ms / 1000 as "playedAt", q.duration_ms / 1000 as duration,
    coalesce(p.name, '') as playlist, q.is_request as "isRequest", q.is_sent as "isSent",
    q.played_at_ms is not null as "isPlayed", q.autodj_custom_uri as "customUri", q.log,
    jsonb_build_object('id', m.song_id, 'artist', m.artist, 'title', m.title, 'album', m.album, 'genre', m.genre,
      'isrc', m.isrc, 'lyrics', m.lyrics, 'artId', ${artId(sql)}, 'customFields', ${customFieldValues(sql)}) as song,
    coalesce((select jsonb_agg(jsonb_build_object('id', f.id, 'shortName', f.short_name) order by f.id)
      from custom_fields f), '[]') as "customFields"
  from queue q join media m on m.id = q.media_id left join playlists p on p.id = q.playlist_id`

function renderRow(row: QueueRow, station: StationRow, baseUrl: string) {
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

const list: Route<ApiServices> = {
  method: 'GET',
  path: '/api/station/:station_id/queue',
  access: 'view station management',
  async handle({ params }, { sql, config }) {
    const station = await findStation(sql, params['station_id'])
    const rows = await sql<QueueRow[]>`${selectRows(sql)}
      where q.station_id = ${station.id} and q.played_at_ms is null and q.skipped_at_ms is null
      order by q.is_sent desc, q.seq`
    return {
      ...json(rows.map(row => renderRow(row, station, config.BASE_URL))),
      headers: { 'X-Total-Count': String(rows.length) }
    }
  }
}

const read: Route<ApiServices> = {
  method: 'GET',
  path: '/api/station/:station_id/queue/:id',
  access: 'view station management',
  async handle({ params }, { sql, config }) {
    const station = await findStation(sql, params['station_id'])
    const [row] = await sql<QueueRow[]>`${selectRows(sql)}
      where q.station_id = ${station.id} and q.id = ${parseId(params['id'])} and q.skipped_at_ms is null
        and (q.played_at_ms is null or q.played_at_ms > ${Date.now() - readableMs})`
    if (!row) throw new ApiError('not-found')
    return json(renderRow(row, station, config.BASE_URL))
  }
}

const remove: Route<ApiServices> = {
  method: 'DELETE',
  path: '/api/station/:station_id/queue/:id',
  access: 'manage station broadcasting',
  async handle({ params }, services) {
    const station = await findStation(services.sql, params['station_id'])
    await removeFromQueue(services, station.id, parseId(params['id']), Date.now())
    return actionResult('Record deleted successfully.')
  }
}

export const queueRoutes = [list, read, remove]
