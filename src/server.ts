import { App } from 'uWebSockets.js'

import { ensureAdminKey } from './admin-key.ts'
import { artRoutes } from './api/art.ts'
import { openKeys } from './api/keys.ts'
import { nowPlayingRoutes } from './api/now-playing.ts'
import { playoutRoutes } from './api/playout.ts'
import { queueRoutes } from './api/queue.ts'
import type { ApiServices } from './api/services.ts'
import { statusRoutes } from './api/status.ts'
import { tellReady } from './children.ts'
import { migrate } from './db/migrate.ts'
import { listen } from './http/listen.ts'
import { serveRoutes } from './http/serve.ts'
import { openAudience } from './live/audience.ts'
import { openFeed } from './live/feed.ts'
import { serveSockets } from './live/sockets.ts'
import { viewOf } from './live/view.ts'
import { openSubscriber } from './redis/connection.ts'
import { openServices } from './services.ts'
import { runService } from './shutdown.ts'

await runService('server', async ({ config, log, opened }) => {
  const stores = await openServices(config, log, 'server', 10)
  opened.defer('stores', () => stores[Symbol.asyncDispose]())
  await migrate(stores.sql)
  const newKey = await ensureAdminKey(stores.sql, config)
  if (newKey) log.info({ adminApiKey: newKey }, 'a key with all rights was made')

  const subscriber = openSubscriber(stores.redisUrl, 'server-changes')
  opened.defer('changes connection', () => subscriber.disconnect())
  const feed = await openFeed({ redis: stores.redis, subscriber, baseUrl: config.BASE_URL, log })
  opened.defer('feed', () => feed.close())

  const keys = openKeys(stores.sql)
  const audience = openAudience({ feed, mayListen: key => keys.mayListen(key), log })
  opened.defer('audience', () => audience.close())
  const app = App()
  serveSockets(app, audience)
  const services: ApiServices = { ...stores, config, live: viewOf(feed) }
  const routes = [
    ...statusRoutes,
    ...nowPlayingRoutes(keys),
    ...queueRoutes,
    ...playoutRoutes,
    ...artRoutes(keys)
  ]
  serveRoutes(app, routes, {
    services,
    authorise: ({ apiKey }, access) => (access === 'public' ? undefined : keys.authorise(apiKey, access)),
    corsOrigins: config.CORS_ALLOWED_ORIGINS,
    log
  })
  const exclusive = config.SERVER_PROCESSES === 1
  const listening = await listen(app, config.HOST, config.PORT, { exclusive })
  opened.defer('http', () => app.close())
  opened.defer('clients', () => audience.drain())
  opened.defer('port', () => listening.close())
  tellReady()
  log.debug({ port: listening.port }, 'server ready')
})
