import { pino } from 'pino'
import { App } from 'uWebSockets.js'
import { onTestFinished } from 'vitest'

import { listen } from '../../src/http/listen.ts'
import { openAdmission } from '../../src/live/admission.ts'
import { type AudienceOptions, openAudience } from '../../src/live/audience.ts'
import { openFeed } from '../../src/live/feed.ts'
import { serveSockets, socketPath } from '../../src/live/sockets.ts'
import { serveStreams } from '../../src/live/streams.ts'
import { openRedis, openSubscriber } from '../../src/redis/connection.ts'

const mayListen = async (key: string) => key === 'good'

const log = pino({ level: 'silent' })

/** A feed on a test's Redis; closed when the test ends. `redis` can commit. */
export async function followRedis(redisUrl: string) {
  const redis = openRedis(redisUrl, 'test')
  const subscriber = openSubscriber(redisUrl, 'test')
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
export async function serveLive(
  redisUrl: string,
  { origins = ['*'], ...options }: Partial<AudienceOptions & { origins: readonly string[] }> = {}
) {
  const { redis, feed } = await followRedis(redisUrl)
  const admission = openAdmission({ total: 10_000, perAddress: 10_000 })
  const audience = openAudience({ feed, admission, mayListen, log, tickMs: 20, ...options })
  const app = App()
  const door = { admission: options.admission ?? admission, addressOf: (address: string) => address, origins }
  serveSockets(app, audience, door)
  serveStreams(app, audience, door)
  const { port } = await listen(app, '127.0.0.1', 0, { exclusive: true })
  onTestFinished(() => {
    audience.close()
    app.close()
  })
  return {
    redis,
    feed,
    audience,
    admission: door.admission,
    url: `ws://127.0.0.1:${port}${socketPath}`,
    baseUrl: `http://127.0.0.1:${port}`
  }
}
