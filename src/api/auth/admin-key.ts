import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { Config } from '../../config.ts'
import type { Sql, Tx } from '../../db/sql.ts'
import { OperatorError } from '../../runtime/errors.ts'
import type { Logger } from '../../runtime/log.ts'
import { generateKey, storeKey } from './keys.ts'

/** The name of the key this file looks after. */
const name = 'Administrator'

/** Where a key that was made for the operator is kept, readable by its owner only. */
export const adminKeyFile = (config: Config) => join(config.DATA_DIR, 'admin-key')

/**
 * Makes sure that a key with all rights works: `ADMIN_API_KEY` if it is set, else the one kept in `DATA_DIR`,
 * else, if the database has none, a new one. Returns the key only if it was made now, to be shown once.
 * Another `ADMIN_API_KEY` than before ends the former one.
 */
export async function ensureAdminKey(sql: Sql, config: Config): Promise<string | null> {
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('cuewire admin key'))`
    const given = config.ADMIN_API_KEY ?? (await readKept(config))
    if (given) {
      const isNew = await storeKey(tx, given, { name, permissions: ['administer all'] })
      // Only the change of the key ends the former one: processes that still hold it must not end the new
      // one.
      if (isNew !== null) await revokeOthers(tx, given)
      return null
    }
    const [existing] = await tx`
      select from api_keys where permissions ? 'administer all' and revoked_at is null limit 1`
    if (existing) return null
    const key = generateKey()
    await mkdir(config.DATA_DIR, { recursive: true })
    await writeFile(adminKeyFile(config), `${key}\n`, { mode: 0o600, flag: 'wx' })
    await storeKey(tx, key, { name, permissions: ['administer all'] })
    return key
  })
}

/**
 * Reports a key that was created now: the key itself on a terminal only, since logs are collected and read by
 * others, and elsewhere the file that keeps it.
 */
export function reportNewKey(key: string, config: Config, log: Logger): void {
  const file = resolve(adminKeyFile(config))
  if (process.stdout.isTTY) process.stdout.write(`X-API-Key: ${key} (created now, kept in ${file})\n`)
  else log.info({ adminKeyFile: file }, 'created an API key with all permissions in a file of mode 600')
}

async function revokeOthers(tx: Tx, key: string): Promise<void> {
  await tx`update api_keys set revoked_at = now()
    where name = ${name} and identifier <> ${key.slice(0, 16)} and revoked_at is null`
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
