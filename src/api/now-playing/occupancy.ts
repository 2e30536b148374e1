import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { followerTransports, readFollowers } from '../../stores/redis/followers.ts'
import { apiRoute, json, getStation } from '../core/route.ts'
import { exactly, int64, named } from '../core/schemas.ts'

const count = (about: string) => ({ ...int64, description: about })

const occupancySchema = named(
  'Occupancy',
  'How many clients follow a station.',
  exactly({
    at: {
      ...int64,
      description: 'Unix seconds of the oldest count in these sums; servers count every two seconds.'
    },
    total: count('All followers.'),
    by_transport: exactly({
      websocket: count('WebSockets.'),
      sse: count('Streams of server-sent events.'),
      http_stream: count('Streams of lines.'),
      long_poll: count('Long polls that wait.')
    } satisfies Record<(typeof followerTransports)[number], unknown>)
  })
)

/** How many clients follow a station by push, on all server processes. They need not listen to its stream. */
export const occupancyRoute = apiRoute('GET', '/api/station/:station_id/occupancy', 'view station reports', {
  id: 'getOccupancy',
  tag: 'Listeners',
  summary: 'How many clients follow the station now, by transport, on all servers',
  response: occupancySchema,
  async handle(request, { redis }) {
    const nowMs = engineTimeMs()
    const { atMs, counts } = await readFollowers(redis, getStation(request).id, nowMs)
    const total = followerTransports.reduce((sum, transport) => sum + counts[transport], 0)
    return json({ at: Math.floor((atMs ?? nowMs) / 1_000), total, by_transport: counts })
  }
})
