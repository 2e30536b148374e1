import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { followerTransports, readFollowers } from '../../stores/redis/followers.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { exactObject, int64, namedSchema } from '../core/schemas.ts'

const count = (about: string) => ({ ...int64, description: about })

const occupancySchema = namedSchema(
  'Occupancy',
  'How many clients follow a station.',
  exactObject({
    at: {
      ...int64,
      description: 'Unix seconds of the oldest count in these sums; servers count every two seconds.'
    },
    total: count('All followers.'),
    by_transport: exactObject({
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
    const { atMs, counts } = await readFollowers(redis, getRequestStation(request).id, nowMs)
    const total = followerTransports.reduce((sum, transport) => sum + counts[transport], 0)
    return jsonReply({ at: Math.floor((atMs ?? nowMs) / 1_000), total, by_transport: counts })
  }
})
