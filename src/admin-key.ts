import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { generateKey, storeKey } from './api/keys.ts'
import type { Config } from './config.ts'
import type { Sql } from './db/sql.ts'
import { OperatorError } from './errors.ts'

/** Where a key that was made for the operator is kept, readable by its owner only. */
export const adminKeyFile = (config: Config) => join(config.DATA_DIR, 'admin-key')

/**
 * Makes sure that a key with all rights works: `ADMIN_API_KEY` if it is set, else the one kept in `DATA_DIR`, else,
 * if the database has none, a new one. Returns the key only if it was made now, to be shown once.
 */
export async function ensureAdminKey(sql: Sql, config: Config): Promise<string | null> {
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('cuewire admin key'))`
    const given = config.ADMIN_API_KEY ?? (await readKept(config))
    if (given) {
      await storeKey(tx, given, 'Administrator', ['administer all'])
      return null
    }
    const [existing] = await tx`
      select from api_keys where permissions ? 'administer all' and revoked_at is null limit 1`
    if (existing) return null
    const key = generateKey()
    await mkdir(config.DATA_DIR, { recursive: true })
    await writeFile(adminKeyFile(config), `${key}\n`, { mode: 0o600, flag: 'wx' })
    await storeKey(tx, key, 'Administrator', ['administer all'])
    return key
  })
}

async function readKept(config: Config): Promise<string | null> {
  const file = adminKeyFile(config)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new OperatorError(`${file} cannot be read (${error.code}): make it readable or remove it`)
  })
  const key = text.trim()
  if (key === '') return null
  if (!/^[0-9a-f]{16}:[0-9a-f]{32}$/.test(key)) {
    throw new OperatorError(`${file} does not hold a key of the form <16 hex>:<32 hex>: correct or remove it`)
  }
  return key
}
