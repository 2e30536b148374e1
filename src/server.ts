import { availableParallelism } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'

import { maySeePrivate } from './api/auth/access.ts'
import { ensureAdminKey, reportNewKey } from './api/auth/admin-key.ts'
import { openAuthorizer } from './api/auth/authorize.ts'
import { openKeys } from './api/auth/keys.ts'
import { heavyReadConnections, openHeavyReads } from './api/core/heavy-reads.ts'
import type { ApiServices } from './api/core/services.ts'
import { openLongPolls } from './api/now-playing/long-polls.ts'
import { apiRoutes } from './api/routes.ts'
import { openWebhookTests } from './api/webhooks/test.ts'
import { openSql } from './db/sql.ts'
import { readIdentities } from './db/stations.ts'
import { openAddresses } from './http/client-address.ts'
import { serveHotGets } from './http/hot-gets.ts'
import type { InFlight } from './http/in-flight.ts'
import { listen } from './http/listen.ts'
import { serveRoutes } from './http/serve.ts'
import { App } from './http/uws.ts'
import { openAdmission, admissionOf } from './live/admission.ts'
import { openFeed } from './live/feed/feed.ts'
import { viewOf } from './live/feed/view.ts'
import { openHub } from './live/hub.ts'
import { serveStreams } from './live/transports/streams.ts'
import { serveSockets } from './live/transports/websockets.ts'
import { openPages } from './pages/routes.ts'
import { renewState } from './playout/publish.ts'
import { openSubscriber } from './redis/connection.ts'
import { reportReady } from './runtime/children.ts'
import { openSecretsOf } from './security/secrets-key.ts'
import { openServices } from './services.ts'
import { runService } from './shutdown.ts'

/**
 * On so few cores the helper threads of the garbage collector wait for their turn behind Postgres, and the
 * server waits for them.
 */
const fewCores = 4
if (availableParallelism() <= fewCores) setFlagsFromString('--no-parallel-scavenge')

await runService('server', async ({ config, log, opened }) => {
  const stores = await openServices(config, log, 'server', 10)
  opened.defer('stores', () => stores[Symbol.asyncDispose]())
  const secrets = await openSecretsOf(stores.sql, config)
  const newKey = await ensureAdminKey(stores.sql, config)
  if (newKey) reportNewKey(newKey, config, log)

  const subscriber = openSubscriber(stores.redisPlace, 'server-changes')
  opened.defer('changes connection', () => subscriber.disconnect())
  const feed = await openFeed({
    redis: stores.redis,
    subscriber,
    baseUrl: config.BASE_URL,
    log,
    renew: shown => renewState(stores, shown),
    readIdentities: stationIds => readIdentities(stores.sql, stationIds)
  })
  opened.defer('feed', () => feed.close())

  const openPool = (name: string, max: number, statementSeconds: number) => {
    const pool = openSql(stores.databaseUrl, { max, name: `server ${name}`, statementSeconds })
    opened.defer(name, () => pool.end({ timeout: 1 }))
    return pool
  }
  const reads = openPool('reads', 4, 10)
  const publicReads = openPool('public reads', 2, 5)
  const heavyReads = openHeavyReads({
    visitors: openPool('visitor reads', heavyReadConnections.visitors, 5),
    keys: openPool('heavy reads', heavyReadConnections.keys, 10)
  })
  const keys = openKeys(openPool('keys', 2, 2))
  const mayListen = async (text: string, stationId: number, address?: string) => {
    const key = await keys.listener(text, address)
    return key !== null && maySeePrivate(key, stationId)
  }
  const addressOf = openAddresses(config.TRUSTED_PROXIES)
  const admission = openAdmission({
    total: config.LIVE_MAX_CONNECTIONS,
    perAddress: config.LIVE_MAX_CONNECTIONS_PER_ADDRESS
  })
  const audience = openHub({ feed, admission, mayListen, log })
  opened.defer('audience', () => audience.close())
  const app = App()
  const door = { admission, addressOf, origins: config.CORS_ALLOWED_ORIGINS }
  serveSockets(app, audience, door)
  serveStreams(app, audience, door)
  const live = viewOf(feed)
  const longPolls = openLongPolls({
    onChange: live.onChange,
    isKnown: stationId => live.get(String(stationId)) !== undefined,
    admit: admissionOf(admission)
  })
  const underWay: InFlight = { answers: 0 }
  let isStopping = false
  const isDraining = () => isStopping
  /** Load balancers look elsewhere from now on; who comes all the same is answered. */
  const drain = async () => {
    isStopping = true
    await wait(config.DRAIN_SECONDS * 1_000)
  }
  const services: ApiServices = {
    ...stores,
    config,
    reads,
    publicReads,
    heavyReads,
    live,
    longPolls,
    keys,
    secrets,
    webhookTests: openWebhookTests(config),
    isDraining
  }
  serveHotGets(app, {
    live,
    corsOrigins: config.CORS_ALLOWED_ORIGINS,
    isDraining,
    underWay,
    isBehindProxy: config.TRUSTED_PROXIES.length > 0
  })
  serveRoutes(app, [...apiRoutes, ...openPages()], {
    services,
    authorise: openAuthorizer({ keys, live, sql: reads }),
    addressOf,
    corsOrigins: config.CORS_ALLOWED_ORIGINS,
    isDraining,
    underWay,
    log
  })
  const exclusive = config.SERVER_PROCESSES === 1
  const listening = await listen(app, config.HOST, config.PORT, { exclusive })
  opened.defer('http', () => app.close())
  opened.defer('answers', () => untilAnswered(underWay))
  opened.defer('late comers', () => wait(config.DRAIN_SECONDS === 0 ? 0 : lateMs))
  opened.defer('clients', () => Promise.all([audience.drain(), longPolls.release()]))
  opened.defer('port', () => listening.close())
  opened.defer('drain', () => drain(), config.DRAIN_SECONDS * 1_000 + 500)
  reportReady(log, { baseUrl: config.BASE_URL, port: listening.port })
})

/** Connections that were taken last may still be about to ask. */
const lateMs = 500

/** Waits a little for answers that are not all sent: their connections are cut next. */
async function untilAnswered(underWay: InFlight): Promise<void> {
  for (
    const deadline = performance.now() + 1_000;
    underWay.answers > 0 && performance.now() < deadline;
    await wait(10)
  );
}
