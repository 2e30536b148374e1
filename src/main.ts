import { once } from 'node:events'
import { join } from 'node:path'

import { adminKeyFile, ensureAdminKey, reportNewKey } from './api/auth/admin-key.ts'
import type { Config } from './config.ts'
import { migrateDatabase } from './db/migrate.ts'
import { openSql } from './db/sql.ts'
import { announceServices, lockDataDir } from './embedded/data-dir.ts'
import { startPostgres } from './embedded/postgres.ts'
import { startRedis } from './embedded/redis.ts'
import {
  type EmbeddedService,
  inOneLine,
  type ServiceOptions,
  type ServiceOutage,
  supervise
} from './embedded/supervise.ts'
import { assertAddressIsFree } from './http/port.ts'
import { checkMediaDir, importFolder, prepareDemo } from './media/demo.ts'
import { superviseChild } from './runtime/children.ts'
import type { Logger } from './runtime/log.ts'
import { runService } from './shutdown.ts'
import { checkPostgres, checkRedis } from './store-checks.ts'

const childStopMs = 2_500

await runService('cuewire', async ({ config, log, opened, signal }) => {
  if (config.MEDIA_DIR) await checkMediaDir(config.MEDIA_DIR)
  const lock = await lockDataDir(config.DATA_DIR)
  opened.defer('data folder', () => lock[Symbol.asyncDispose]())
  await assertAddressIsFree(config.HOST, config.PORT, 2_000)

  /** Returns the URL of a store: the configured one, or that of an embedded store, which it starts. */
  const openStore = async (
    name: string,
    given: string | undefined,
    start: (options: ServiceOptions) => Promise<EmbeddedService>
  ) => {
    if (given !== undefined) return given
    signal.throwIfAborted()
    const onOutage = ({ cause, output, retryMs }: ServiceOutage) => {
      const what = cause === 'ended' ? 'has ended' : 'could not be started'
      const when = retryMs === 0 ? '' : ` in ${(retryMs / 1_000).toFixed(1)} s`
      log.error({ output: inOneLine(output) }, `embedded ${name} ${what}; starting it again${when}`)
    }
    const service = await supervise(start, onOutage, signal)
    opened.defer(name, () => service.stop())
    return service.url
  }
  const inFolder = (name: string) => join(lock.folder, name)
  const stores = [
    openStore('Postgres', config.DATABASE_URL, options => startPostgres(inFolder('postgres'), options)),
    openStore('Redis', config.REDIS_URL, options => startRedis(inFolder('redis'), options))
  ] as const
  // In parallel, because initdb takes seconds. If one fails, wait for the other, so that it is registered and
  // gets closed.
  await Promise.allSettled(stores)
  const [databaseUrl, redisUrl] = await Promise.all(stores)
  await announceServices(config.DATA_DIR, { databaseUrl, redisUrl })
  await checkRedis(redisUrl)
  const { newKey, mediaStationId } = await prepare(config, databaseUrl, log)

  signal.throwIfAborted()
  const env = { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }
  const stopMs = childStopMs + config.DRAIN_SECONDS * 1_000
  const options = { env, log, stopMs }
  const processes = [superviseChild('workers', 'workers/main.js', options)]
  for (let index = 0; index < config.SERVER_PROCESSES; index++)
    processes.push(superviseChild('server', 'src/server.js', options))
  opened.defer('processes', () => Promise.all(processes.map(child => child.stop())), stopMs + 500)
  await Promise.race([Promise.all(processes.map(child => child.ready)), once(signal, 'abort')])
  signal.throwIfAborted()

  announce(config, log, newKey)
  if (config.MEDIA_DIR && mediaStationId !== null) {
    const importing = importFolder(databaseUrl, mediaStationId, config.MEDIA_DIR, log, signal)
    opened.defer('media import', () => importing)
  }
})

async function prepare(config: Config, databaseUrl: string, log: Logger) {
  const sql = openSql(databaseUrl, { max: 2, name: 'start' })
  try {
    await checkPostgres(sql)
    const migrated = await migrateDatabase(databaseUrl)
    if (migrated.length > 0) log.debug({ migrated }, 'schema is up to date')
    return { newKey: await ensureAdminKey(sql, config), mediaStationId: await prepareDemo(sql, config) }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Prints the addresses on a terminal, and logs the base URL elsewhere. A key is reported only when it is new.
 */
function announce(config: Config, log: Logger, newKey: string | null): void {
  const { BASE_URL: base } = config
  if (!process.stdout.isTTY) {
    if (newKey) reportNewKey(newKey, config, log)
    log.info({ baseUrl: base }, 'cuewire is on air')
    return
  }
  const lines = [
    '',
    'Cuewire is on air.',
    '',
    `  dashboard     ${base}/`,
    `  player        ${base}/public/demo`,
    `  now playing   ${base}/api/nowplaying/demo`,
    `  all stations  ${base}/api/nowplaying`,
    `  push          ${base.replace(/^http/, 'ws')}/api/live/nowplaying/websocket`,
    newKey
      ? `  X-API-Key     ${newKey}   (made now, kept in ${adminKeyFile(config)})`
      : `  X-API-Key     see ADMIN_API_KEY or ${adminKeyFile(config)}`,
    '',
    '  Ctrl-C stops everything.',
    '',
    ''
  ]
  process.stdout.write(lines.join('\n'))
}
