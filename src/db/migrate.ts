import { readdir, readFile } from 'node:fs/promises'

import { programFile } from '../program-files.ts'
import { fillClashKeys } from './clash-keys.ts'
import type { Sql } from './sql.ts'

const folder = programFile('src/db/migrations/')

/**
 * Brings the schema up to date: every `NNNN_name.sql` not yet recorded runs, in order, in one transaction.
 * Processes that start together wait for each other on an advisory lock. What SQL cannot fill in follows in parts. Returns
 * the names that ran.
 */
export async function migrate(sql: Sql): Promise<string[]> {
  const names = (await readdir(folder)).filter(name => /^\d{4}_.*\.sql$/.test(name)).toSorted()
  const ran = await sql.begin(async tx => {
    await tx`set local lock_timeout = '60s'`
    await tx`select pg_advisory_xact_lock(hashtext('cuewire migrations'))`
    await tx`create table if not exists migrations (name text primary key, ran_at timestamptz not null default now())`
    const done = new Set((await tx<{ name: string }[]>`select name from migrations`).map(row => row.name))
    const missing = names.filter(name => !done.has(name))
    for (const name of missing) {
      await tx.unsafe(await readFile(new URL(name, folder), 'utf8'))
      await tx`insert into migrations ${tx({ name })}`
    }
    return missing
  })
  await fillClashKeys(sql)
  return ran
}
