import { probeShards, probeWrites } from '../../redis/station-store.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { type ApiRoute, json } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

const probeMs = 2_000

const time: ApiRoute = {
  method: 'GET',
  path: '/api/time',
  access: 'public',
  operation: {
    id: 'getTime',
    tag: 'Status',
    summary: "The server's clock",
    answer: exactly({
      timestamp: { type: 'integer' },
      utc_datetime: { type: 'string' },
      utc_date: { type: 'string' },
      utc_time: { type: 'string' },
      utc_json: { type: 'string' }
    })
  },
  handle: () => json(renderTime(new Date(engineTimeMs())))
}

/** The server's clock; players correct theirs by `timestamp` (Unix seconds). All texts are UTC. */
export function renderTime(now: Date) {
  const whole = `${now.toISOString().slice(0, 19)}.000000Z`
  const day = now.toLocaleDateString('en-US', { timeZone: 'UTC', dateStyle: 'long' })
  const hours = now.getUTCHours()
  const minutes = String(now.getUTCMinutes()).padStart(2, '0')
  return {
    timestamp: Math.floor(now.getTime() / 1000),
    utc_datetime: whole.slice(0, 19).replace('T', ' '),
    utc_date: day,
    utc_time: `${hours % 12 || 12}:${minutes}${hours < 12 ? 'am' : 'pm'}`,
    utc_json: whole
  }
}

const status: ApiRoute = {
  method: 'GET',
  path: '/api/status',
  access: 'public',
  operation: {
    id: 'getStatus',
    tag: 'Status',
    summary: 'Whether the server answers',
    answer: exactly({ online: { type: 'boolean' }, timestamp: { type: 'integer' } })
  },
  handle: () => json({ online: true, timestamp: Math.floor(engineTimeMs() / 1000) })
}

const health: ApiRoute = {
  method: 'GET',
  path: '/api/health',
  access: 'any key',
  operation: {
    id: 'getHealth',
    tag: 'Status',
    summary: 'Whether the parts of the system are there',
    answer: exactly({
      status: { type: 'string', enum: ['success', 'error'] },
      postgres: { type: 'string', enum: ['up', 'down'] },
      redis: { type: 'string', enum: ['up', 'read-only', 'down'] },
      live_state: { type: 'string', enum: ['current', 'stale'] },
      stations: { type: 'integer' }
    })
  },
  async handle(_, { sql, redis, live }) {
    const [postgres, isRead, isWritten] = await Promise.all([
      answers(sql`select 1`),
      answers(probeShards(redis)),
      answers(probeWrites(redis))
    ])
    const { isCurrent, stations } = live.health()
    return json({
      status: postgres && isRead && isWritten && isCurrent ? 'success' : 'error',
      postgres: postgres ? 'up' : 'down',
      redis: isWritten ? 'up' : isRead ? 'read-only' : 'down',
      live_state: isCurrent ? 'current' : 'stale',
      stations
    })
  }
}

const alive: ApiRoute = {
  method: 'GET',
  path: '/api/health/live',
  access: 'public',
  operation: {
    id: 'getLiveness',
    tag: 'Status',
    summary: 'Whether this server runs: if not, start it again',
    answer: exactly({ status: { type: 'string', enum: ['alive'] } })
  },
  handle: () => ({ ...json({ status: 'alive' }), headers: uncached })
}

/**
 * A server without Redis is ready all the same: it serves the newest states it knows, and to take all servers
 * out of service at once would help nobody. `live_state` tells.
 */
const ready: ApiRoute = {
  method: 'GET',
  path: '/api/health/ready',
  access: 'public',
  operation: {
    id: 'getReadiness',
    tag: 'Status',
    summary: 'Whether this server should be sent clients: 503 while it is about to stop',
    answer: exactly({
      status: { type: 'string', enum: ['ready', 'draining'] },
      live_state: { type: 'string', enum: ['current', 'stale'] },
      checked_at: { type: 'integer', description: 'Nothing up to this second was missed' }
    }),
    errors: [503]
  },
  handle: (_, { live, isDraining }) => {
    const { isCurrent, checkedAtMs } = live.health()
    return {
      ...json({
        status: isDraining() ? 'draining' : 'ready',
        live_state: isCurrent ? 'current' : 'stale',
        checked_at: Math.floor(checkedAtMs / 1000)
      }),
      status: isDraining() ? 503 : 200,
      headers: uncached
    }
  }
}

const uncached = { 'Cache-Control': 'no-store' }

async function answers(probe: PromiseLike<unknown>): Promise<boolean> {
  const deadline = new Promise<false>(resolve => {
    setTimeout(resolve, probeMs, false).unref()
  })
  return Promise.race([
    Promise.resolve(probe)
      .then(() => true)
      .catch(() => false),
    deadline
  ])
}

export const statusRoutes = [time, status, health, alive, ready]
