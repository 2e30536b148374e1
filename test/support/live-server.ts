import { pino } from 'pino'
import { App } from 'uWebSockets.js'
import { onTestFinished } from 'vitest'

import { listen } from '../../src/http/listen.ts'
import { type AudienceOptions, openAudience } from '../../src/live/audience.ts'
import { openFeed } from '../../src/live/feed.ts'
import { serveSockets, socketPath } from '../../src/live/sockets.ts'
import { openRedis, openSubscriber } from '../../src/redis/connection.ts'
import { checkRedis } from '../../src/store-checks.ts'

const mayListen = async (key: string) => key === 'good'

const log = pino({ level: 'silent' })

/** A feed on a test's Redis or Redis Cluster; closed when the test ends. `redis` can commit. */
export async function followRedis(redisUrl: string) {
  const place = await checkRedis(redisUrl)
  const redis = openRedis(place, 'test')
  const subscriber = openSubscriber(place, 'test-changes')
  redis.on('error', () => {})
  const feed = await openFeed({ redis, subscriber, baseUrl: 'https://radio.example.com', log })
  onTestFinished(async () => {
    await feed.close()
    redis.disconnect()
    subscriber.disconnect()
  })
  return { redis, feed }
}

/** The live endpoint on a free port. The key `good` may listen to private stations unless told otherwise. */
export async function serveLive(redisUrl: string, options: Partial<AudienceOptions> = {}) {
  const { redis, feed } = await followRedis(redisUrl)
  const audience = openAudience({ feed, mayListen, log, tickMs: 20, ...options })
  const app = App()
  serveSockets(app, audience)
  const { port } = await listen(app, '127.0.0.1', 0, { exclusive: true })
  onTestFinished(() => {
    audience.close()
    app.close()
  })
  return { redis, feed, audience, url: `ws://127.0.0.1:${port}${socketPath}` }
}
