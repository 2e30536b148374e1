import { join } from 'node:path'

import { chooseProgram } from '../../scripts/running-programs.mjs'
import type { Config } from '../config.ts'
import type { CommandContext } from '../platform/process/command-context.ts'
import { OperatorError } from '../platform/runtime/operator-error.ts'
import {
  assertPostgresUsable,
  type PostgresUrlSource,
  postgresUrlSource
} from '../stores/db/connections/check-postgres.ts'
import { migrateSchema } from '../stores/db/migrate.ts'
import { openSql, type Sql } from '../stores/db/sql.ts'
import { findRunningServices, lockDataDir } from '../stores/embedded/data-dir.ts'
import { startPostgres } from '../stores/embedded/postgres.ts'

/** The end of the help of a command that uses `withCommandDatabase`. */
export const databaseHelpText = `The database is that of DATABASE_URL, else that of the Cuewire that runs with DATA_DIR, else that of the only one
that runs on this machine, else the one in DATA_DIR.
`

export interface CommandPoolOptions {
  /** The name of the pool. */
  readonly name: string
  /** Timeout of a statement. */
  readonly statementSeconds?: number
  /** Whether the database is migrated first; true by default. */
  readonly migrates?: boolean
  /** For the message if Postgres does not answer. */
  readonly place?: PostgresUrlSource
}

/**
 * Opens, and usually migrates, the database of DATABASE_URL, else that of the Cuewire that runs with this DATA_DIR,
 * else, without a DATA_DIR, that of the only one that runs on this machine, else the Postgres of DATA_DIR, which it
 * starts and stops. Without DATA_DIR, the choice is reported on `stderr`. `use` gets the pool and the DATA_DIR that
 * belongs to it. Throws an `OperatorError` if several run.
 */
export async function withCommandDatabase<Result>(
  config: Config,
  { env, stderr }: Pick<CommandContext, 'env' | 'stderr'>,
  pool: CommandPoolOptions,
  use: (sql: Sql, dataDir: string) => Promise<Result>
): Promise<Result> {
  const stores = await findCommandStores(config, { env, stderr })
  const placed = { ...pool, place: postgresUrlSource(config) }
  if (stores !== null) return withDatabasePool(stores.databaseUrl, placed, sql => use(sql, stores.dataDir))
  await using lock = await lockDataDir(config.DATA_DIR)
  stderr.write(
    `No Cuewire runs with ${lock.folder}, and DATABASE_URL is not set: using the Postgres of that folder.\n`
  )
  await using postgres = await startPostgres(join(lock.folder, 'postgres'))
  return await withDatabasePool(postgres.url, placed, sql => use(sql, config.DATA_DIR))
}

/** The stores that commands work with. */
export interface CommandStores {
  readonly databaseUrl: string
  readonly redisUrl: string | undefined
  readonly dataDir: string
}

/**
 * Finds the stores of DATABASE_URL and REDIS_URL, else of the Cuewire that runs with this DATA_DIR, else, without a
 * DATA_DIR, of the only one that runs on this machine, which is reported on `stderr`. Returns null if none runs.
 */
export async function findCommandStores(
  config: Config,
  { env, stderr }: Pick<CommandContext, 'env' | 'stderr'>
): Promise<CommandStores | null> {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: dataDir } = config
  const own = await findRunningServices(dataDir)
  const url = databaseUrl ?? own?.databaseUrl
  if (url) return { databaseUrl: url, redisUrl: redisUrl ?? own?.redisUrl, dataDir }
  const running = env['DATA_DIR'] ? null : await findProgram(env)
  const services = running && (await findRunningServices(running.dataDir))
  if (!running || !services) return null
  stderr.write(`Using the Cuewire at ${running.url}, with DATA_DIR ${running.dataDir}.\n`)
  return { ...services, dataDir: running.dataDir }
}

const findProgram = (env: CommandContext['env']) =>
  chooseProgram(env).catch((error: unknown) => {
    throw new OperatorError(String(error instanceof Error ? error.message : error), { cause: error })
  })

/**
 * Opens a pool, checks that Postgres is usable, migrates the database unless told otherwise, and closes the pool
 * afterwards.
 */
export async function withDatabasePool<Result>(
  url: string,
  { migrates = true, place = {}, ...pool }: CommandPoolOptions,
  use: (sql: Sql) => Promise<Result>
): Promise<Result> {
  const sql = openSql(url, { max: 2, ...pool })
  try {
    await assertPostgresUsable(url, place)
    if (migrates) await migrateSchema(sql)
    return await use(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
