import { access, constants, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { adminKeyFile, ensureAdminKey } from './admin-key.ts'
import { ChildFailed, keepRunning } from './children.ts'
import { type Config, parseConfig } from './config.ts'
import { migrate } from './db/migrate.ts'
import { openSql } from './db/sql.ts'
import { importFolder, prepareDemo } from './demo.ts'
import { announceServices, lockDataDir } from './embedded/data-dir.ts'
import { assertPortIsFree } from './embedded/free-port.ts'
import { startPostgres } from './embedded/postgres.ts'
import { startRedis } from './embedded/redis.ts'
import type { EmbeddedService } from './embedded/service.ts'
import { supervise } from './embedded/supervise.ts'
import { OperatorError } from './errors.ts'
import { type Logger, openLog } from './log.ts'
import { openReleasers, type Releasers, runEntry, stopOnSignals } from './shutdown.ts'

await runEntry(async () => {
  const config = parseConfig(process.env)
  const log = openLog('cuewire', config.LOG_LEVEL)
  const opened = openReleasers(log)
  stopOnSignals(log, () => opened.release())
  try {
    await start(config, log, opened)
  } catch (error) {
    await opened.release()
    // A child that could not start has said why.
    if (error instanceof ChildFailed) process.exit(1)
    throw error
  }
})

async function start(config: Config, log: Logger, opened: Releasers): Promise<void> {
  await assertPortIsFree(config.PORT, 'PORT')
  if (config.MEDIA_DIR) await assertReadable(config.MEDIA_DIR)
  const lock = await lockDataDir(config.DATA_DIR)
  opened.defer('data folder', () => lock[Symbol.asyncDispose]())
  const embed = async (name: string, startService: (port?: number) => Promise<EmbeddedService>) => {
    const service = await supervise(startService, (output, isFinal) => {
      log.error(
        { output },
        isFinal ? `${name} cannot be started again` : `${name} has ended; starting it again`
      )
      if (isFinal) process.kill(process.pid, 'SIGTERM')
    })
    opened.defer(name, () => service.stop())
    return service.url
  }
  const databaseUrl =
    config.DATABASE_URL ??
    (await embed('postgres', port => startPostgres(join(lock.folder, 'postgres'), port ? { port } : {})))
  const redisUrl =
    config.REDIS_URL ??
    (await embed('redis', port => startRedis(join(lock.folder, 'redis'), port ? { port } : {})))
  await announceServices(config.DATA_DIR, { databaseUrl, redisUrl })
  const { newKey, mediaStationId } = await prepare(config, databaseUrl, log)

  const env = { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }
  const processes = [keepRunning('../workers/main.ts', env, log)]
  for (let index = 0; index < config.SERVER_PROCESSES; index++)
    processes.push(keepRunning('./server.ts', env, log))
  opened.defer('processes', () => Promise.all(processes.map(child => child.stop())))
  await Promise.all(processes.map(child => child.ready))
  announce(config, log, newKey)
  if (config.MEDIA_DIR && mediaStationId !== null) {
    const stopping = new AbortController()
    const importing = importFolder(databaseUrl, mediaStationId, config.MEDIA_DIR, log, stopping.signal)
    opened.defer('media import', async () => {
      stopping.abort()
      await importing
    })
  }
}

async function prepare(config: Config, databaseUrl: string, log: Logger) {
  const sql = openSql(databaseUrl, { max: 2, name: 'start' })
  try {
    const migrated = await migrate(sql)
    if (migrated.length > 0) log.debug({ migrated }, 'schema is up to date')
    return { newKey: await ensureAdminKey(sql, config), mediaStationId: await prepareDemo(sql, config) }
  } catch (error) {
    if (error instanceof OperatorError || !isUnreachable(error)) throw error
    throw new OperatorError(`Postgres does not answer at DATABASE_URL: ${String(error)}`)
  } finally {
    await sql.end({ timeout: 3 })
  }
}

/** Where to look, in a few lines on a terminal, as one line of JSON elsewhere. The key is told only when it is new. */
function announce(config: Config, log: Logger, newKey: string | null): void {
  const { BASE_URL: base } = config
  if (!process.stdout.isTTY) {
    log.info({ baseUrl: base, ...(newKey ? { adminApiKey: newKey } : {}) }, 'cuewire is on air')
    return
  }
  const lines = [
    '',
    'Cuewire is on air.',
    '',
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

async function assertReadable(folder: string): Promise<void> {
  try {
    await access(folder, constants.R_OK | constants.X_OK)
    await readdir(folder)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new OperatorError(`MEDIA_DIR ${folder} is no readable folder (${code})`)
  }
}

function isUnreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^(E[A-Z]+|CONNECT_TIMEOUT|CONNECTION_.*|28\w{3}|3D000)$/.test(code)
}
