import { join } from 'node:path'

import { registerProgram } from '../scripts/running-programs.mjs'
import { adminKeyPath, ensureAdminKey, reportNewAdminKey } from './api/auth/admin-key.ts'
import { assertMediaDir, prepareDemo } from './commands/demo/demo.ts'
import { importMediaDir } from './commands/import/import-folder.ts'
import { type Config, parseConfig } from './config.ts'
import { warnOfMistypedVariables } from './mistyped-variables.ts'
import { openChildMetrics } from './platform/metrics/child-metrics.ts'
import { serveMetrics } from './platform/metrics/exporter.ts'
import { superviseChild } from './platform/process/children.ts'
import { assertPortIsFree } from './platform/process/ports.ts'
import { fullVersion } from './platform/process/program-files.ts'
import { runService } from './platform/process/service.ts'
import { superviseProgram } from './platform/process/supervise.ts'
import type { Logger } from './platform/runtime/log.ts'
import { assertPostgresUsable, postgresUrlSource } from './stores/db/connections/check-postgres.ts'
import { migrateDatabase } from './stores/db/migrate.ts'
import { openSql } from './stores/db/sql.ts'
import { writeRunningServices, lockDataDir } from './stores/embedded/data-dir.ts'
import type { EmbeddedService, EmbeddedServiceOptions } from './stores/embedded/embedded-service.ts'
import { summarizeOutput } from './stores/embedded/guarded-process.ts'
import { startPostgres } from './stores/embedded/postgres.ts'
import { startRedis } from './stores/embedded/redis.ts'
import { resolveRedisPlace } from './stores/redis/check-redis.ts'
import { openDatabaseSecrets } from './stores/secrets/secrets-key.ts'

const childStopMs = 2_500

await runService('cuewire', parseConfig, async ({ config, log, opened, signal }) => {
  warnOfMistypedVariables(log)
  if (config.MEDIA_DIR) await assertMediaDir(config.MEDIA_DIR)
  const lock = await lockDataDir(config.DATA_DIR)
  opened.defer('data folder', () => lock[Symbol.asyncDispose]())
  await assertPortIsFree(config.HOST, config.PORT, { timeoutMs: 2_000 })

  /** Returns the configured URL of a store, or starts an embedded one and returns its URL. */
  const openStore = async (
    name: string,
    configured: string | undefined,
    start: (options: EmbeddedServiceOptions) => Promise<EmbeddedService>
  ) => {
    if (configured !== undefined) return configured
    signal.throwIfAborted()
    const service = await superviseProgram<EmbeddedService>(
      (startSignal, first) => start({ port: first?.port, signal: startSignal }),
      {
        firstMs: 0,
        minMs: 1_000,
        maxMs: 30_000,
        life: signal,
        onOutage: ({ cause, output, retryMs }) => {
          const what = cause === 'ended' ? 'has ended' : 'could not be started'
          const delay = retryMs === 0 ? '' : ` in ${(retryMs / 1_000).toFixed(1)} s`
          log.error({ output: summarizeOutput(output) }, `embedded ${name} ${what}; restarting it${delay}`)
        }
      }
    )
    opened.defer(name, () => service.stop())
    return service.first.url
  }
  const stores = [
    openStore('Postgres', config.DATABASE_URL, options =>
      startPostgres(join(lock.folder, 'postgres'), options)
    ),
    openStore('Redis', config.REDIS_URL, options => startRedis(join(lock.folder, 'redis'), options))
  ] as const
  // In parallel, because initdb takes seconds. If one fails, wait for the other, so that it is registered and
  // gets closed.
  await Promise.allSettled(stores)
  const [databaseUrl, redisUrl] = await Promise.all(stores)
  await writeRunningServices(config.DATA_DIR, { databaseUrl, redisUrl })
  await resolveRedisPlace(redisUrl, { isEmbedded: config.REDIS_URL === undefined })
  const { newKey, mediaStationId } = await prepareDatabase(config, databaseUrl, log)

  signal.throwIfAborted()
  const ownUrls = {
    DATABASE_URL: databaseUrl,
    DATABASE_URL_FILE: '',
    REDIS_URL: redisUrl,
    REDIS_URL_FILE: ''
  }
  const env = { ...process.env, ...ownUrls }
  const stopMs = childStopMs + config.DRAIN_SECONDS * 1_000
  const ending = new AbortController()
  const metrics = openChildMetrics()
  opened.defer('metrics', await serveMetrics(metrics.collect, config, log))
  const life = AbortSignal.any([signal, ending.signal])
  const options = { env, log, stopMs, life, onStart: metrics.add }
  const processes = [superviseChild('workers', 'workers/main.js', options)]
  for (let index = 0; index < config.SERVER_PROCESSES; index++)
    processes.push(superviseChild('server', 'src/server.js', options))
  const stopProcesses = () => {
    ending.abort()
    return Promise.allSettled(processes.map(async starting => (await starting).stop()))
  }
  opened.defer('processes', stopProcesses, stopMs + 500)
  await Promise.all(processes)
  signal.throwIfAborted()

  const address = { url: `http://127.0.0.1:${config.PORT}`, dataDir: lock.folder }
  opened.defer('entry for other commands', await registerProgram(address))
  announceStart(config, log, newKey)
  if (config.MEDIA_DIR && mediaStationId !== null) {
    const importing = importMediaDir(
      databaseUrl,
      mediaStationId,
      { ...config, MEDIA_DIR: config.MEDIA_DIR, DATA_DIR: lock.folder },
      log,
      signal
    )
    opened.defer('media import', () => importing)
  }
})

async function prepareDatabase(config: Config, databaseUrl: string, log: Logger) {
  const sql = openSql(databaseUrl, { max: 2, name: 'start' })
  try {
    await assertPostgresUsable(databaseUrl, postgresUrlSource(config))
    const migrated = await migrateDatabase(databaseUrl)
    if (migrated.length > 0) log.debug({ migrated }, 'schema is up to date')
    // Before the workers start songs: with another key, the servers would not start.
    await openDatabaseSecrets(sql, config)
    return { newKey: await ensureAdminKey(sql, config), mediaStationId: await prepareDemo(sql, config) }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Prints the URLs on a terminal; logs the base URL elsewhere. Reports the key only if it is new. */
function announceStart(config: Config, log: Logger, newKey: string | null): void {
  const { BASE_URL: base } = config
  if (!process.stdout.isTTY) {
    if (newKey) reportNewAdminKey(newKey, config, log)
    log.info({ version: fullVersion, baseUrl: base }, 'cuewire is on air')
    return
  }
  const key = newKey
    ? `${newKey}   (created now, stored in ${adminKeyPath(config)})`
    : `see ADMIN_API_KEY or ${adminKeyPath(config)}`
  process.stdout.write(`
Cuewire is on air.

  dashboard     ${base}/
  player        ${base}/public/demo
  now playing   ${base}/api/nowplaying/demo
  all stations  ${base}/api/nowplaying
  push          ${base.replace(/^http/, 'ws')}/api/live/nowplaying/websocket
  X-API-Key     ${key}

  Ctrl-C stops everything.

`)
}
