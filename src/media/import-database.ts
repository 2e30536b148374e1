import { join } from 'node:path'

import type { Config } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { openSql, type Sql } from '../db/sql.ts'
import { findRunningServices, lockDataDir } from '../embedded/data-dir.ts'
import { startPostgres } from '../embedded/postgres.ts'
import { OperatorError } from '../runtime/errors.ts'

/** A migrated database; disposing closes the pool and whatever was started for it. */
export interface ImportDatabase extends AsyncDisposable {
  readonly sql: Sql
}

/**
 * Opens the database of DATABASE_URL, else that of the Cuewire that runs with this DATA_DIR, else starts the
 * Postgres of DATA_DIR for as long as this is open, and says so: a program that runs elsewhere has another
 * database.
 */
export async function openImportDatabase(
  config: Config,
  say: (line: string) => void
): Promise<ImportDatabase> {
  if (config.DATABASE_URL) return connect(config.DATABASE_URL)
  const running = await findRunningServices(config.DATA_DIR)
  if (running) return connect(running.databaseUrl)

  // Closed last opened first, also when a later step fails.
  const opened: AsyncDisposable[] = []
  const close = async () => {
    for (let next = opened.pop(); next; next = opened.pop()) await next[Symbol.asyncDispose]()
  }
  try {
    const lock = await lockDataDir(config.DATA_DIR)
    opened.push(lock)
    say(
      `No Cuewire runs with ${lock.folder}, and DATABASE_URL is not set: using the Postgres of that folder.`
    )
    const postgres = await startPostgres(join(lock.folder, 'postgres'))
    opened.push(postgres)
    const database = await connect(postgres.url)
    opened.push(database)
    return { sql: database.sql, [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function connect(url: string): Promise<ImportDatabase> {
  const sql = openSql(url, { max: 2, name: 'import' })
  const close = async () => sql.end({ timeout: 5 })
  try {
    await sql`select 1`.catch((error: unknown) => {
      throw new OperatorError(`Postgres does not answer: ${reasonOf(error)}`, { cause: error })
    })
    await migrate(sql)
  } catch (error) {
    await close()
    throw error
  }
  return { sql, [Symbol.asyncDispose]: close }
}

/** A refused connection is an error with a code and an empty message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
