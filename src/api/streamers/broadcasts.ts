import { listRoute } from '../core/list-route.ts'
import { containsTextFragment, newestRowsLimitFragment } from '../core/list.ts'
import { getRequestStation } from '../core/route.ts'
import { exactObject, int64, namedSchema, nullableInt64 } from '../core/schemas.ts'

const broadcastSchema = namedSchema(
  'Broadcast',
  'A live broadcast.',
  exactObject({
    id: int64,
    streamer: {
      ...nullableInt64,
      description: 'The id of the streamer (may be deleted); null: the user source.'
    },
    username: { type: 'string', examples: ['wren'] },
    streamer_name: { type: 'string', description: 'The name that was shown.', examples: ['DJ Wren'] },
    timestamp_start: { ...int64, description: 'Unix seconds.' },
    timestamp_end: { ...nullableInt64, description: 'Unix seconds; null: not ended.' }
  })
)

export const broadcastListRoute = listRoute(
  '/api/station/:station_id/streamers/broadcasts',
  'view station reports',
  {
    id: 'listBroadcasts',
    tag: 'Streamers',
    summary: 'The broadcasts of streamers, newest first',
    responseRecord: 'Broadcast',
    record: broadcastSchema,
    open(query, request, { reads: sql }) {
      const contains = containsTextFragment(sql, query.search)
      const { id: stationId } = getRequestStation(request)
      // In the order of an index that starts with the station: see "walks an index of all stations" in
      // docs/gotchas.md.
      const newest = sql`
      select * from broadcasts where station_id between ${stationId} and ${stationId}
      order by station_id, id desc ${newestRowsLimitFragment(sql)}`
      const broadcasts = sql`
      select * from (${newest}) b
      ${query.search === '' ? sql`` : sql`where username ${contains} or streamer_name ${contains}`}`
      return {
        select: broadcasts,
        expand: page => sql`
        select id, streamer_id as streamer, username, streamer_name, started_at_ms / 1000 as timestamp_start,
          ended_at_ms / 1000 as timestamp_end
        from (${page}) b`,
        matching: broadcasts
      }
    }
  }
)
