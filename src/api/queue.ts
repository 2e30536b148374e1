import { ApiError } from '../errors.ts'
import { changeStation } from '../playout/change-station.ts'
import { removeFromQueue } from '../playout/queue.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import { recordAudit } from './audit.ts'
import { likePattern, listParameters, listReply, listSchema, parseListQuery, readList } from './list.ts'
import { parseId } from './parse.ts'
import { type QueueRow, renderRow, selectRows } from './queue-row.ts'
import { actionResult, type ApiRoute, json, stationOf } from './route.ts'

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
