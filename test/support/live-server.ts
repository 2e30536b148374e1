import { Cluster } from 'ioredis'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'

import { openAddressResolver } from '../../src/http/client-address.ts'
import { buildCorsPolicy } from '../../src/http/headers.ts'
import { openUwsApp, listenOnPort } from '../../src/http/uws.ts'
import { openConnectionAdmission } from '../../src/live/connection-admission.ts'
import { type FeedOptions, openFeed } from '../../src/live/feed/feed.ts'
import { type Hub, type HubOptions, openHub } from '../../src/live/hub.ts'
import type { LiveSession } from '../../src/live/session.ts'
import { serveEventStreams } from '../../src/live/transports/streams.ts'
import { serveWebSockets, webSocketPath } from '../../src/live/transports/websockets.ts'
import { openStationRenderers } from '../../src/model/station/renderer.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openRedis, openRedisSubscriber, type RedisClient } from '../../src/stores/redis/connection.ts'
import { changesChannel, allShards } from '../../src/stores/redis/keys.ts'
import { watchWriteHealth } from '../../src/stores/redis/write-health.ts'

const mayListen = async (key: string) => key === 'good'

const log = pino({ level: 'silent' })

/** A feed on the Redis or Redis Cluster of a test, closed when the test ends. `redis` can commit. */
export async function followRedis(
  redisUrl: string,
  options: Partial<Pick<FeedOptions, 'checkIntervalMs' | 'renderers'>> = {}
) {
  const place = await resolveRedisPlace(redisUrl)
  const redis = openRedis(place, 'test')
  const subscriber = openRedisSubscriber(place, 'test-changes')
  redis.on('error', () => {})
  const writes = watchWriteHealth(redis, { log, outages: { begin: () => {} } })
  const feed = await openFeed({
    redis,
    subscriber,
    writes,
    renderers: openStationRenderers('documented', 'https://radio.example.com'),
    log,
    renew: () => Promise.resolve(),
    readIdentities: async () => new Map(),
    ...options
  })
  onTestFinished(async () => {
    await feed.close()
    writes.stop()
    redis.disconnect()
    subscriber.disconnect()
  })
  return { redis, subscriber, feed }
}

/** The live endpoint on a free port. By default the key `good` has access to private stations. */
export async function serveLive(
  redisUrl: string,
  {
    origins = ['*'],
    trusted = [],
    ...options
  }: Partial<HubOptions & { origins: readonly string[]; trusted: readonly string[] }> = {}
) {
  const { redis, feed } = await followRedis(redisUrl)
  const admission = openConnectionAdmission({ total: 10_000, perAddress: 10_000 })
  const hub = openHub({ feed, admission, mayListen, log, tickMs: 20, ...options })
  const app = openUwsApp()
  const sessions: LiveSession[] = []
  const watched: Hub = {
    ...hub,
    join: (transport, client) => {
      const session = hub.join(transport, client)
      sessions.push(session)
      return session
    }
  }
  const door = {
    admission: options.admission ?? admission,
    addressOf: openAddressResolver(trusted),
    cors: buildCorsPolicy(origins)
  }
  serveWebSockets(app, watched, door)
  serveEventStreams(app, watched, door)
  const { port } = await listenOnPort(app, '127.0.0.1', 0, { exclusive: true })
  onTestFinished(() => {
    hub.close()
    app.close()
  })
  return {
    redis,
    feed,
    hub,
    /** All that were opened, in order. */
    sessions,
    admission: door.admission,
    url: `ws://127.0.0.1:${port}${webSocketPath}`,
    baseUrl: `http://127.0.0.1:${port}`
  }
}

/**
 * The number of subscribers of the changes of each shard. Each node of a cluster only knows those of its own
 * shards.
 */
export async function countSubscribers(redis: RedisClient): Promise<number[]> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const responses = await Promise.all(
    servers.map(async server => server.pubsub('SHARDNUMSUB', ...allShards.map(changesChannel)))
  )
  return allShards.map(shard => sum(responses.map(response => Number(response[2 * shard + 1]))))
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
