import { pino } from 'pino'
import { onTestFinished } from 'vitest'

import type { Permission } from '../../src/api/auth/access.ts'
import { generateApiKey, openKeyChecker, storeApiKey } from '../../src/api/auth/key-checker.ts'
import { openListenTokens } from '../../src/api/auth/listen-tokens.ts'
import { takesKeysInQuery } from '../../src/api/azuracast/with-dialects.ts'
import { apiServeOptions } from '../../src/api/core/admission.ts'
import { openHeavyReads } from '../../src/api/core/heavy-reads.ts'
import type { ApiServices } from '../../src/api/core/services.ts'
import { openLongPolls, type LongPollsOptions } from '../../src/api/now-playing/long-polls.ts'
import { openSongLinks } from '../../src/api/playout/song-links.ts'
import { apiRoutes } from '../../src/api/routes.ts'
import { openWebhookTests } from '../../src/api/webhooks/test.ts'
import { parseConfig } from '../../src/config.ts'
import { serveRoutes } from '../../src/http/serve.ts'
import { openUwsApp, listenOnPort } from '../../src/http/uws.ts'
import { openNamelessFileSync } from '../../src/library/uploads/transient-content.ts'
import { openFeedView } from '../../src/live/feed/feed-view.ts'
import { serveHotGets } from '../../src/live/hot-gets.ts'
import type { Dialect } from '../../src/model/station/dialect.ts'
import { openStationRenderers } from '../../src/model/station/renderer.ts'
import type { StationState } from '../../src/model/station/state.ts'
import { openConnectedListeners } from '../../src/radio/connected-listeners.ts'
import { openSettingsReader } from '../../src/stores/db/installation-settings.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { openSecrets } from '../../src/stores/secrets/secrets.ts'
import { followRedis } from './live-server.ts'
import { openPlayout } from './playout.ts'
import { putState } from './put-state.ts'
import { waitFor } from './wait.ts'

export interface ApiServerOptions extends Partial<Pick<LongPollsOptions, 'admit'>> {
  readonly corsOrigins?: readonly string[]
  readonly isDraining?: () => boolean
  /** Configuration in addition to `BASE_URL`. */
  readonly variables?: Readonly<Record<string, string>>
}

/**
 * The whole API in this process, on the database and Redis of a test. It is closed when the test ends. Its
 * stations are the states that are committed to Redis.
 */
export async function serveApi(sql: Sql, redisUrl: string, options: ApiServerOptions = {}) {
  const { corsOrigins = ['*'], isDraining = () => false, admit = () => () => {}, variables } = options
  const config = parseConfig({ BASE_URL: 'https://radio.example.com', ...variables })
  const renderers = openStationRenderers(config.API_DIALECT, config.BASE_URL)
  const { redis, feed } = await followRedis(redisUrl, { renderers })
  const playout = await openPlayout(sql, redisUrl)
  const keys = openKeyChecker(sql)
  const live = openFeedView(feed)
  const longPolls = openLongPolls({
    onChange: live.onChange,
    isKnown: stationId => live.find(stationId) !== undefined,
    admit
  })
  const log = pino({ level: 'silent' })
  const secrets = openSecrets(Buffer.alloc(32))
  const services: ApiServices = {
    ...playout,
    config,
    installationId: 'test',
    reads: sql,
    publicReads: sql,
    heavyReads: openHeavyReads({ visitors: sql, keys: sql }),
    live,
    renderer: renderers[0],
    longPolls,
    keys,
    secrets,
    listenTokens: openListenTokens(secrets),
    songLinks: openSongLinks(secrets),
    settings: openSettingsReader(sql),
    connectedListeners: openConnectedListeners({
      sql,
      redis: playout.redis,
      secrets,
      allowedNetworks: config.WEBHOOK_ALLOWED_NETWORKS
    }),
    webhookTests: openWebhookTests(config),
    isDraining
  }
  const app = openUwsApp()
  serveHotGets(app, { live, corsOrigins, isDraining, ownPagesDiffer: config.API_DIALECT !== 'documented' })
  serveRoutes(app, apiRoutes, {
    ...apiServeOptions(apiRoutes, services, { takesKeysInQuery: takesKeysInQuery(config.API_DIALECT) }),
    addressOf: address => address,
    corsOrigins,
    log,
    openSpool: () => openNamelessFileSync(config),
    isDraining
  })
  const { port } = await listenOnPort(app, '127.0.0.1', 0, { exclusive: true })
  onTestFinished(async () => {
    app.close()
    await playout[Symbol.asyncDispose]()
  })
  const base = `http://127.0.0.1:${port}`
  return {
    base,
    port,
    services,
    redis,
    feed,
    longPolls,
    /** Commits states of new stations, and waits until the server shows them. */
    add: async (...states: readonly StationState[]) => {
      for (const state of states) await putState(redis, state)
      await waitFor(() => states.every(({ stationId }) => feed.get(stationId)), {
        deadlineMs: 5_000,
        what: 'the stations'
      })
    },
    makeKey: async (
      permissions: readonly Permission[] = ['view station management'],
      dialect: Dialect | null = null
    ) => {
      const key = generateApiKey()
      await storeApiKey(sql, key, { name: 'test', permissions, dialect })
      return key
    }
  }
}
