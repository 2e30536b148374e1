import type { Tx } from '../../stores/db/sql.ts'
import { secretsCheckName } from '../../stores/secrets/secrets-key.ts'
import {
  configWithoutCredentialsSql,
  hookHasCredentialSql,
  isSealedSql,
  sealedColumns
} from './sealed-values.ts'

/** A record with credentials, for people. */
export interface RecordWithCredentials {
  readonly table: string
  readonly id: number
  readonly name: string
  /** What is stored, as columns or settings. */
  readonly credentials: readonly string[]
}

/** SQL: how operators know the records of a table. */
const names: Readonly<Record<string, string>> = {
  storage_locations:
    "concat_ws(' ', t.adapter, nullif(t.s3_bucket, ''), nullif(t.sftp_host, ''), nullif(t.path, ''))",
  stations: 't.short_name',
  remotes: "concat_ws(' ', (select short_name from stations where id = t.station_id), t.name)"
}

/** Finds all records with credentials that are sealed with the secrets key. */
export async function findSealedCredentials(tx: Tx): Promise<RecordWithCredentials[]> {
  const found: RecordWithCredentials[] = []
  for (const [table, columns] of Object.entries(sealedColumns)) {
    const list = columns.map(column => `case when t.${column} <> '' then '${column}' end`).join(', ')
    const rows = await tx.unsafe<Omit<RecordWithCredentials, 'table'>[]>(`
      select id, name, credentials from (
        select t.id, ${names[table] ?? "''"} as name, array_remove(array[${list}], null) as credentials from ${table} t
      ) r where cardinality(credentials) > 0 order by id`)
    found.push(...rows.map(row => ({ table, ...row })))
  }
  const hooks = await tx.unsafe<Omit<RecordWithCredentials, 'table'>[]>(`
    select t.id, concat_ws(' ', (select short_name from stations where id = t.station_id), t.name) as name,
      array(select e ->> 'key' from jsonb_array_elements(t.config) with ordinality c (e, place)
        where ${isSealedSql("e ->> 'value'")} order by place) as credentials
    from webhooks t where ${hookHasCredentialSql} order by id`)
  found.push(...hooks.map(hook => ({ table: 'webhooks', ...hook })))
  return found
}

/**
 * Removes all sealed credentials, disables web hooks that need one, and lets the next start use another secrets key.
 */
export async function removeSealedCredentials(tx: Tx): Promise<void> {
  for (const [table, columns] of Object.entries(sealedColumns)) {
    const changes = columns.map(column => `${column} = ''`).join(', ')
    const isFilled = columns.map(column => `${column} <> ''`).join(' or ')
    await tx.unsafe(`update ${table} set ${changes} where ${isFilled}`)
  }
  await tx.unsafe(
    `update webhooks t set is_enabled = false, config = ${configWithoutCredentialsSql} where ${hookHasCredentialSql}`
  )
  await tx`update webhooks set former_secret = null, former_secret_until_ms = 0 where former_secret is not null`
  await tx`delete from settings where name = ${secretsCheckName}`
}
