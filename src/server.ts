import { App } from 'uWebSockets.js'

import { ensureAdminKey } from './admin-key.ts'
import { mayListenTo } from './api/access.ts'
import { openAuthoriser } from './api/authorise.ts'
import { openKeys } from './api/keys.ts'
import { apiRoutes } from './api/routes.ts'
import type { ApiServices } from './api/services.ts'
import { openWaiters } from './api/waiters.ts'
import { tellReady } from './children.ts'
import { migrate } from './db/migrate.ts'
import { openSql } from './db/sql.ts'
import { openAddresses } from './http/client-address.ts'
import { serveHotGets } from './http/hot-gets.ts'
import { listen } from './http/listen.ts'
import { serveRoutes } from './http/serve.ts'
import { openKeptSecrets } from './kept-secrets.ts'
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
  const secrets = await openKeptSecrets(stores.sql, config)
  const newKey = await ensureAdminKey(stores.sql, config)
  if (newKey) log.info({ adminApiKey: newKey }, 'a key with all rights was made')

  const subscriber = openSubscriber(stores.redisUrl, 'server-changes')
  opened.defer('changes connection', () => subscriber.disconnect())
  const feed = await openFeed({ redis: stores.redis, subscriber, baseUrl: config.BASE_URL, log })
  opened.defer('feed', () => feed.close())

  const reads = openSql(stores.databaseUrl, { max: 6, name: 'server reads' })
  opened.defer('reads', () => reads.end({ timeout: 1 }))
  const keys = openKeys(reads)
  const mayListen = async (text: string, stationId: number) => {
    const key = await keys.listener(text)
    return key !== null && mayListenTo(key, stationId)
  }
  const audience = openAudience({ feed, mayListen, log })
  opened.defer('audience', () => audience.close())
  const app = App()
  serveSockets(app, audience)
  const live = viewOf(feed)
  const waiters = openWaiters({ onChange: live.onChange })
  const services: ApiServices = { ...stores, config, reads, live, waiters, keys, secrets }
  serveHotGets(app, { live, corsOrigins: config.CORS_ALLOWED_ORIGINS })
  serveRoutes(app, apiRoutes, {
    services,
    authorise: openAuthoriser({ keys, live, sql: reads }),
    addressOf: openAddresses(config.TRUSTED_PROXIES),
    corsOrigins: config.CORS_ALLOWED_ORIGINS,
    log
  })
  const exclusive = config.SERVER_PROCESSES === 1
  const listening = await listen(app, config.HOST, config.PORT, { exclusive })
  opened.defer('http', () => app.close())
  opened.defer('long polls', () => waiters.release())
  opened.defer('clients', () => audience.drain())
  opened.defer('port', () => listening.close())
  tellReady()
  log.debug({ port: listening.port }, 'server ready')
})
