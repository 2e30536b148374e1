import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

import { fullVersion, projectFileUrl } from '../../platform/process/program-files.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { withJitter } from '../../platform/runtime/repeat.ts'
import { openSql, type Sql, type Tx } from './sql.ts'

const folder = projectFileUrl('src/stores/db/migrations/')

/** A migration may update millions of rows. */
export const migrationSeconds = 3_600

/** Migrates the schema over a connection of its own with long timeouts; see `migrateSchema`. */
export async function migrateDatabase(url: string): Promise<string[]> {
  const sql = openSql(url, { max: 1, name: 'migration', statementSeconds: migrationSeconds })
  try {
    return await migrateSchema(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/**
 * Runs every `NNNN_name.sql` that is not recorded, in order, in one transaction; concurrent processes wait. Tries again
 * after a deadlock with writers of the release before. Returns the names that ran. Throws an `OperatorError` if a newer
 * release changed the schema incompatibly.
 */
export async function migrateSchema(sql: Sql): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sql.begin(tx => runMigrations(tx))
    } catch (error) {
      if (errorCodeOf(error) !== deadlock || attempt === maxAttempts) throw error
      await sleep(withJitter(500))
    }
  }
}

const deadlock = '40P01'
const maxAttempts = 5

/** Like `migrateSchema`, in a transaction of the caller. `isIncluded` limits it to some names. */
export async function runMigrations(
  tx: Tx,
  isIncluded: (name: string) => boolean = () => true
): Promise<string[]> {
  const names = await listMigrations()
  await tx`set local lock_timeout = '60s'`
  await tx`select pg_advisory_xact_lock(hashtext('cuewire migrations'))`
  await tx`create table if not exists migrations (name text primary key, ran_at timestamptz not null default now())`
  await assertMigrationsKnown(tx, names)
  const done = new Set((await tx<{ name: string }[]>`select name from migrations`).map(row => row.name))
  const missing = names.filter(name => !done.has(name) && isIncluded(name))
  if (missing.length > 0) await lockStationsForMigration(tx)
  for (const name of missing) {
    await tx.unsafe(await readFile(new URL(name, folder), 'utf8'))
    await tx`insert into migrations ${tx({ name })}`
  }
  return missing
}

/**
 * Changes lock the row of their station first. Waiting for them here, before other tables are locked, avoids deadlocks
 * with them.
 */
async function lockStationsForMigration(tx: Tx): Promise<void> {
  const [table] = await tx<{ isThere: boolean }[]>`select to_regclass('stations') is not null as "isThere"`
  if (table?.isThere) await tx`lock table stations in access exclusive mode`
}

/** The names of all migrations of this release, in order. */
export async function listMigrations(): Promise<string[]> {
  return (await readdir(folder)).filter(name => /^\d{4}_.*\.sql$/.test(name)).toSorted()
}

/** Unknown newer migrations are compatible unless they removed what this release needs. */
async function assertMigrationsKnown(tx: Tx, names: readonly string[]): Promise<void> {
  const [table] = await tx<
    { isThere: boolean }[]
  >`select to_regclass('compatibility') is not null as "isThere"`
  if (!table?.isThere) return
  const [row] = await tx<{ least: number }[]>`select least_migration as least from compatibility`
  const newest = Number(names.at(-1)?.slice(0, 4) ?? 0)
  if (row === undefined || row.least <= newest) return
  throw new OperatorError(
    `a newer release has changed the database, and version ${fullVersion} cannot work with it any more: start the newer release`
  )
}
