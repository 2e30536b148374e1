import { setTimeout as sleep } from 'node:timers/promises'

import { maySeePrivateStation } from './api/auth/access.ts'
import { ensureAdminKey, reportNewAdminKey } from './api/auth/admin-key.ts'
import { openKeyChecker } from './api/auth/key-checker.ts'
import { openListenTokens } from './api/auth/listen-tokens.ts'
import { sessionCookieName } from './api/auth/session-cookie.ts'
import { takesKeysInQuery } from './api/azuracast/with-dialects.ts'
import { apiServeOptions } from './api/core/admission.ts'
import { openHeavyReads } from './api/core/heavy-reads.ts'
import type { ApiServices } from './api/core/services.ts'
import { openLongPolls } from './api/now-playing/long-polls.ts'
import { loadWebauthn } from './api/people/passkeys.ts'
import { openSongLinks } from './api/playout/song-links.ts'
import { apiRoutes } from './api/routes.ts'
import { openWebhookTests } from './api/webhooks/test.ts'
import { parseConfig } from './config.ts'
import { publishAboveOffset } from './engine/repair-states.ts'
import { logAccess } from './http/access-log.ts'
import { openAddressResolver } from './http/client-address.ts'
import { buildCorsPolicy } from './http/headers.ts'
import type { ResponsesInFlight } from './http/response-stream.ts'
import { serveRoutes } from './http/serve.ts'
import { openUwsApp, listenOnPort } from './http/uws.ts'
import { openNamelessFileSync } from './library/uploads/transient-content.ts'
import { openConnectionAdmission, openLongPollAdmission } from './live/connection-admission.ts'
import { openFeedView } from './live/feed/feed-view.ts'
import { openFeed } from './live/feed/feed.ts'
import { openFollowers } from './live/followers.ts'
import { serveHotGets } from './live/hot-gets.ts'
import { openHub } from './live/hub.ts'
import { registerFeedMetrics } from './live/measure-feed.ts'
import { startFollowerPublishing } from './live/publish-followers.ts'
import { serveEventStreams } from './live/transports/streams.ts'
import { serveWebSockets } from './live/transports/websockets.ts'
import { warnOfMistypedVariables } from './mistyped-variables.ts'
import { openStationRenderers } from './model/station/renderer.ts'
import { pageRoutes } from './pages/routes.ts'
import { exportMetrics } from './platform/metrics/exporter.ts'
import { requestsInFlightMetric } from './platform/metrics/http.ts'
import { addPoolMetrics } from './platform/metrics/postgres.ts'
import { connectionLimitMetric } from './platform/metrics/push.ts'
import { reportReady } from './platform/process/children.ts'
import { warnUnlessDataDirIsWritable } from './platform/process/create-data-dir.ts'
import { runService } from './platform/process/service.ts'
import { startTracing } from './platform/tracing/tracing.ts'
import { openConnectedListeners } from './radio/connected-listeners.ts'
import { openServices } from './services.ts'
import { poolSizes } from './stores/db/connections/connection-budget.ts'
import { ensureInstallationSettings, openSettingsReader } from './stores/db/installation-settings.ts'
import { openSql } from './stores/db/sql.ts'
import { readStationIdentities } from './stores/db/stations.ts'
import { openRedisSubscriber } from './stores/redis/connection.ts'
import { openDatabaseSecrets } from './stores/secrets/secrets-key.ts'

await runService('server', parseConfig, async ({ config, log, outages, opened }) => {
  if (config.UPLOAD_MAX_MBIT !== undefined)
    log.warn('UPLOAD_MAX_MBIT is ignored: uploads slow down while other requests wait; remove it')
  warnOfMistypedVariables(log)
  await warnUnlessDataDirIsWritable(config.DATA_DIR, log)
  opened.defer('traces', await startTracing('server', config, log))
  const stores = await openServices(config, { log, outages }, 'server')
  opened.defer('stores', () => stores[Symbol.asyncDispose]())
  opened.defer('metrics', await exportMetrics('server', config, log))
  const secrets = await openDatabaseSecrets(stores.sql, config)
  const { app_unique_identifier: installationId } = await ensureInstallationSettings(stores.sql)
  const newKey = await ensureAdminKey(stores.sql, config)
  if (newKey) reportNewAdminKey(newKey, config, log)

  const subscriber = openRedisSubscriber(stores.redisPlace, 'server-changes')
  opened.defer('changes connection', () => subscriber.disconnect())
  const renderers = openStationRenderers(config.API_DIALECT, config.BASE_URL)
  const feed = await openFeed({
    redis: stores.redis,
    subscriber,
    writes: stores.writes,
    renderers,
    log,
    renew: shown => publishAboveOffset(stores, shown),
    readIdentities: stationIds => readStationIdentities(stores.sql, stationIds),
    stationFaults: stores.stationFaults
  })
  opened.defer('feed', () => feed.close())
  registerFeedMetrics(feed)

  const openPool = (name: string, max: number, statementSeconds: number) => {
    const { databaseUrl, onQuery } = stores
    const pool = openSql(databaseUrl, { max, name: `server ${name}`, statementSeconds, onQuery })
    opened.defer(name, () => pool.end({ timeout: 1 }))
    addPoolMetrics(name, () => pool.use())
    return pool
  }
  const reads = openPool('reads', poolSizes.server.reads, 10)
  const publicReads = openPool('public reads', poolSizes.server.publicReads, 5)
  const heavyReads = openHeavyReads({ visitors: publicReads, keys: reads })
  const keys = openKeyChecker(openPool('keys', poolSizes.server.keys, 2))
  const mayListen = async (text: string, stationId: number, address?: string) => {
    const key = await keys.findOptional(text, address)
    return key !== null && maySeePrivateStation(key, stationId)
  }
  const addressOf = openAddressResolver(config.TRUSTED_PROXIES)
  const admission = openConnectionAdmission({
    total: config.LIVE_MAX_CONNECTIONS,
    perAddress: config.LIVE_MAX_CONNECTIONS_PER_ADDRESS
  })
  connectionLimitMetric.read = () => config.LIVE_MAX_CONNECTIONS
  const listenTokens = openListenTokens(secrets)
  const followers = openFollowers(config.LIVE_MAX_CONNECTIONS_PER_STATION)
  const publishing = startFollowerPublishing(followers, stores.redis, log)
  opened.defer('followers', () => publishing.stop())
  const hub = openHub({ feed, admission, followers, mayListen, readGrant: listenTokens.read, log })
  opened.defer('hub', () => hub.close())
  const app = openUwsApp()
  if (config.ACCESS_LOG) logAccess(app, { log, addressOf })
  const sessionCookie = sessionCookieName(config.BASE_URL)
  const cors = buildCorsPolicy(config.CORS_ALLOWED_ORIGINS)
  const connectOptions = { admission, addressOf, cors, sessionCookie }
  serveWebSockets(app, hub, connectOptions)
  const ownHandlers = serveEventStreams(app, hub, connectOptions)
  const live = openFeedView(feed)
  const longPolls = openLongPolls({
    onChange: live.onChange,
    isKnown: stationId => live.find(stationId) !== undefined,
    admit: openLongPollAdmission(admission, followers)
  })
  const inFlight: ResponsesInFlight = { count: 0 }
  requestsInFlightMetric.read = () => inFlight.count
  let isStopping = false
  const isDraining = () => isStopping
  /** Load balancers stop sending requests; those that still come are handled. */
  const drain = async () => {
    isStopping = true
    await sleep(config.DRAIN_SECONDS * 1_000)
  }
  const services: ApiServices = {
    ...stores,
    config,
    installationId,
    reads,
    publicReads,
    heavyReads,
    live,
    renderer: renderers[0],
    longPolls,
    keys,
    secrets,
    listenTokens,
    songLinks: openSongLinks(secrets),
    settings: openSettingsReader(publicReads),
    connectedListeners: openConnectedListeners({
      sql: reads,
      redis: stores.redis,
      secrets,
      allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS
    }),
    webhookTests: openWebhookTests(config),
    isDraining
  }
  const shared = { corsOrigins: config.CORS_ALLOWED_ORIGINS, isDraining, inFlight }
  serveHotGets(app, {
    ...shared,
    live,
    isBehindProxy: config.TRUSTED_PROXIES.length > 0,
    ownPagesDiffer: config.API_DIALECT !== 'documented'
  })
  const routes = [...apiRoutes, ...pageRoutes]
  serveRoutes(app, routes, {
    ...shared,
    ...apiServeOptions(routes, services, { takesKeysInQuery: takesKeysInQuery(config.API_DIALECT) }),
    addressOf,
    ownHandlers,
    sessionCookie,
    openSpool: () => openNamelessFileSync(config),
    log,
    slowLog: stores.slowLog
  })
  await warmUp()
  const exclusive = config.SERVER_PROCESSES === 1
  const listening = await listenOnPort(app, config.HOST, config.PORT, { exclusive })
  opened.defer('http', () => app.close())
  opened.defer('responses', () => waitForResponses(inFlight))
  opened.defer('late requests', () => sleep(config.DRAIN_SECONDS === 0 ? 0 : lateRequestMs))
  opened.defer('clients', () => Promise.all([hub.drain(), longPolls.release()]))
  opened.defer('port', () => listening.close())
  opened.defer('drain', drain, config.DRAIN_SECONDS * 1_000 + 500)
  await stores.markReady()
  reportReady(log, { baseUrl: config.BASE_URL, port: listening.port })
})

/** The last accepted connections may not have sent their request yet. */
const lateRequestMs = 500

/** Does once, before there are requests, what would let others wait for 60 to 80 ms later. */
async function warmUp(): Promise<void> {
  await loadWebauthn()
  // Node parses the source map of this file for the first stack.
  void new Error('warm-up').stack
}

/** Waits up to a second for responses in flight, before their connections are closed. */
async function waitForResponses(inFlight: ResponsesInFlight): Promise<void> {
  const deadline = performance.now() + 1_000
  while (inFlight.count > 0 && performance.now() < deadline) await sleep(10)
}
