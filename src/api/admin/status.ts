import { withDeadline } from '../../platform/runtime/deadline.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { probeShards, probeWrites } from '../../stores/redis/shard-commands.ts'
import { apiRoute, jsonReply } from '../core/route.ts'
import { exactObject, string } from '../core/schemas.ts'

const probeTimeoutMs = 2_000
const noStore = { 'Cache-Control': 'no-store' }
const integer = { type: 'integer' }
const liveState = { ...string, enum: ['current', 'stale'] }
const tag = 'Status'

const time = apiRoute('GET', '/api/time', 'public', {
  id: 'getTime',
  tag,
  summary: 'The time of the server',
  response: exactObject({
    timestamp: integer,
    utc_datetime: string,
    utc_date: string,
    utc_time: string,
    utc_json: string
  }),
  handle: () => jsonReply(renderServerTime(new Date(engineTimeMs())))
})

/** Renders a time; players correct their clock by `timestamp` (Unix seconds). All texts are UTC. */
export function renderServerTime(now: Date) {
  const seconds = now.toISOString().slice(0, 19)
  const hours = now.getUTCHours()
  const minutes = String(now.getUTCMinutes()).padStart(2, '0')
  return {
    timestamp: Math.floor(now.getTime() / 1000),
    utc_datetime: seconds.replace('T', ' '),
    utc_date: now.toLocaleDateString('en-US', { timeZone: 'UTC', dateStyle: 'long' }),
    utc_time: `${hours % 12 || 12}:${minutes}${hours < 12 ? 'am' : 'pm'}`,
    utc_json: `${seconds}.000000Z`
  }
}

const status = apiRoute('GET', '/api/status', 'public', {
  id: 'getStatus',
  tag,
  summary: 'Whether the server answers',
  response: exactObject({ online: { type: 'boolean' }, timestamp: integer }),
  // The identifier tells `npm run doctor` whether a proxy leads to this installation.
  handle: (_, { installationId }) => ({
    ...jsonReply({ online: true, timestamp: Math.floor(engineTimeMs() / 1000) }),
    headers: { 'X-Installation': installationId }
  })
})

const health = apiRoute('GET', '/api/health', 'any key', {
  id: 'getHealth',
  tag,
  summary: 'Whether Postgres and Redis are available, and the live state is current',
  response: exactObject({
    status: { ...string, enum: ['success', 'error'] },
    postgres: { ...string, enum: ['up', 'down'] },
    redis: { ...string, enum: ['up', 'read-only', 'down'] },
    live_state: liveState,
    stations: integer
  }),
  async handle(_, { sql, redis, live }) {
    const [hasPostgres, isReadable, isWritable] = await Promise.all([
      succeeds(sql`select 1`),
      succeeds(probeShards(redis)),
      succeeds(probeWrites(redis))
    ])
    const { isCurrent, stations } = live.health()
    return jsonReply({
      status: hasPostgres && isReadable && isWritable && isCurrent ? 'success' : 'error',
      postgres: hasPostgres ? 'up' : 'down',
      redis: isWritable ? 'up' : isReadable ? 'read-only' : 'down',
      live_state: isCurrent ? 'current' : 'stale',
      stations
    })
  }
})

const alive = apiRoute('GET', '/api/health/live', 'public', {
  id: 'getLiveness',
  tag,
  summary: 'Liveness probe: restart this server if it fails',
  response: exactObject({ status: { ...string, enum: ['alive'] } }),
  handle: () => ({ ...jsonReply({ status: 'alive' }), headers: noStore })
})

/**
 * A server without Redis is ready nevertheless: it serves the newest states it has, and without Redis all servers would
 * be taken out of service at once. `live_state` reports it. One that reached a node which refuses writes, as after a
 * failover, is not ready: others may have reached the node that takes them.
 */
const ready = apiRoute('GET', '/api/health/ready', 'public', {
  id: 'getReadiness',
  tag,
  summary:
    'Readiness probe: 503 while this server shuts down, or its connections lead to a Redis that was demoted',
  response: exactObject({
    status: { ...string, enum: ['ready', 'draining', 'read-only'] },
    live_state: liveState,
    checked_at: { ...integer, description: 'Unix seconds up to which no change was missed' }
  }),
  errors: [503],
  handle: (_, { live, isDraining }) => {
    const { isCurrent, isNodeRefusing, checkedAtMs } = live.health()
    const state = isDraining() ? 'draining' : isNodeRefusing ? 'read-only' : 'ready'
    const body = {
      status: state,
      live_state: isCurrent ? 'current' : 'stale',
      checked_at: Math.floor(checkedAtMs / 1000)
    }
    return { ...jsonReply(body), status: state === 'ready' ? 200 : 503, headers: noStore }
  }
})

/** Whether a probe succeeds within its timeout. Never rejects. */
function succeeds(probe: PromiseLike<unknown>): Promise<boolean> {
  return withDeadline(probeTimeoutMs, 'probing a store', async () => probe).then(
    () => true,
    () => false
  )
}

export const statusRoutes = [time, status, health, alive, ready]
