import {
  likePattern,
  listParameters,
  renderListReply,
  listSchema,
  newestRows,
  parseListQuery,
  readList
} from '../core/list.ts'
import { apiRoute, stationOf } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

const integer = { type: 'integer', format: 'int64' }
const nullableInteger = { type: ['integer', 'null'], format: 'int64' }

export const broadcastSchema = exactly({
  id: integer,
  streamer: {
    ...nullableInteger,
    description: 'The id of the streamer (may be deleted); null: the user source.'
  },
  username: { type: 'string', examples: ['wren'] },
  streamer_name: { type: 'string', description: 'The name that was shown.', examples: ['DJ Wren'] },
  timestamp_start: { ...integer, description: 'Unix seconds.' },
  timestamp_end: { ...nullableInteger, description: 'Unix seconds; null: not ended.' }
})

const list = apiRoute('GET', '/api/station/:station_id/streamers/broadcasts', 'view station reports', {
  id: 'listBroadcasts',
  tag: 'Streamers',
  summary: 'The broadcasts of streamers, newest first',
  query: listParameters([]),
  answer: listSchema({ $ref: '#/components/schemas/Broadcast' }),
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, [])
    const pattern = likePattern(query.search)
    const { id: stationId } = stationOf(request)
    // In the order of an index that starts with the station: see "walks an index of all stations" in
    // docs/gotchas.md.
    const newest = sql`
      select * from broadcasts where station_id between ${stationId} and ${stationId}
      order by station_id, id desc ${newestRows(sql)}`
    const broadcasts = sql`
      select * from (${newest}) b
      ${query.search === '' ? sql`` : sql`where username ilike ${pattern} or streamer_name ilike ${pattern}`}`
    const rows = await readList(request, services, query, {
      select: broadcasts,
      expand: page => sql`
        select id, streamer_id as streamer, username, streamer_name, started_at_ms / 1000 as timestamp_start,
          ended_at_ms / 1000 as timestamp_end
        from (${page}) b`,
      matching: broadcasts
    })
    return renderListReply(rows, query, request, config.BASE_URL)
  }
})

export const broadcastRoutes = [list]
