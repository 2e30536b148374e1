import type { LogEntry } from '../../autodj/log-entry.ts'
import { definedFields, songOf } from '../../db/snapshots.ts'
import type { Sql } from '../../db/sql.ts'
import { changeStation } from '../../playout/change-station.ts'
import { removeFromQueue } from '../../playout/queue/queue.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { ApiError } from '../../runtime/errors.ts'
import { renderSong } from '../../station/now-playing.ts'
import type { Song } from '../../station/state.ts'
import { recordAudit } from '../core/audit.ts'
import { likePattern, listParameters, listReply, listSchema, parseListQuery, readList } from '../core/list.ts'
import { parseId } from '../core/parse.ts'
import { actionResult, type ApiRoute, json, stationOf, type StationRow } from '../core/route.ts'

/** Rows that were played can be read this long. */
const readableMs = 7 * 86_400_000

const item = { $ref: '#/components/schemas/QueueItem' }

const list: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/queue',
  access: 'view station management',
  operation: {
    id: 'listQueue',
    tag: 'Queue',
    summary: 'What will play, in order',
    query: listParameters([]),
    answer: listSchema(item)
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const station = stationOf(request)
    const query = parseListQuery(request.query, [])
    const pattern = likePattern(query.search)
    const upcoming = sql`q.station_id = ${station.id} and q.played_at_ms is null and q.skipped_at_ms is null
      and m.artist || ' - ' || m.title ilike ${pattern}`
    const rows = await readList<QueueRow>(request, services, query, {
      select: sql`${selectRows(sql)} where ${upcoming} order by q.is_sent desc, q.position`,
      matching: sql`select from queue q join media m on m.id = q.media_id where ${upcoming}`,
      render: queued => queued.map(row => renderRow(row, station, config.BASE_URL))
    })
    return listReply(rows, query, request, config.BASE_URL)
  }
}

const read: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/queue/:id',
  access: 'view station management',
  operation: { id: 'getQueueItem', tag: 'Queue', summary: 'Read a row of the queue', answer: item },
  async handle(request, { reads: sql, config }) {
    const station = stationOf(request)
    const [row] = await sql<QueueRow[]>`${selectRows(sql)}
      where q.station_id = ${station.id} and q.id = ${parseId(request.params['id'])} and q.skipped_at_ms is null
        and (q.played_at_ms is null or q.played_at_ms > ${engineTimeMs() - readableMs})`
    if (!row) throw new ApiError('not-found')
    return json(renderRow(row, station, config.BASE_URL))
  }
}

const remove: ApiRoute = {
  method: 'DELETE',
  path: '/api/station/:station_id/queue/:id',
  access: 'manage station broadcasting',
  operation: {
    id: 'deleteQueueItem',
    tag: 'Queue',
    summary: 'Take a song out of the queue',
    answer: { $ref: '#/components/schemas/ActionResult' },
    errors: [409]
  },
  async handle(request, services) {
    const id = parseId(request.params['id'])
    await changeStation(services, stationOf(request).id, async change => {
      await removeFromQueue(change, id, engineTimeMs())
      await recordAudit(change.tx, request, { record: 'QueueItem', id })
    })
    return actionResult('Record deleted successfully.')
  }
}

export const queueRoutes = [list, read, remove]

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
