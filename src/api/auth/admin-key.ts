import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { createDataDir } from '../../platform/process/create-data-dir.ts'
import type { Logger } from '../../platform/runtime/log.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { generateApiKey, parseApiKey, storeApiKey } from './key-checker.ts'

/** The key that this file manages. */
const administrator = { name: 'Administrator', permissions: ['administer all'] } as const

interface AdminKeySettings {
  readonly DATA_DIR: string
  readonly ADMIN_API_KEY?: string | undefined
}

/** The file with a generated key, readable by its owner only. */
export const adminKeyPath = (config: AdminKeySettings) => join(config.DATA_DIR, 'admin-key')

/**
 * Ensures that a key with all permissions is valid: `ADMIN_API_KEY` if it is set, else the one in `DATA_DIR`,
 * else, if the database has none, a generated one. Returns the key only if it was generated now. A changed
 * `ADMIN_API_KEY` revokes the previous one.
 */
export async function ensureAdminKey(sql: Sql, config: AdminKeySettings): Promise<string | null> {
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('cuewire admin key'))`
    const given = config.ADMIN_API_KEY ?? (await readStoredKey(config))
    if (given) {
      const isNew = (await storeApiKey(tx, given, administrator)) !== null
      // Only for a new key: a process that still has the previous one must not revoke the new one.
      if (isNew) await revokeOthers(tx, given)
      return null
    }
    const [existing] = await tx`
      select from api_keys where permissions ? 'administer all' and revoked_at is null limit 1`
    if (existing) return null
    const key = generateApiKey()
    await createDataDir(config.DATA_DIR)
    await writeFile(adminKeyPath(config), `${key}\n`, { mode: 0o600, flag: 'wx' })
    await storeApiKey(tx, key, administrator)
    return key
  })
}

/** Prints a generated key if the output is a terminal; otherwise logs only the path of the key file. */
export function reportNewAdminKey(key: string, config: AdminKeySettings, log: Logger): void {
  const file = resolve(adminKeyPath(config))
  if (process.stdout.isTTY) process.stdout.write(`X-API-Key: ${key} (created now, kept in ${file})\n`)
  else log.info({ adminKeyFile: file }, 'created an API key with all permissions in a file of mode 600')
}

async function revokeOthers(tx: Tx, key: string): Promise<void> {
  await tx`update api_keys set revoked_at = now()
    where name = ${administrator.name} and identifier <> ${key.slice(0, 16)} and revoked_at is null`
}

async function readStoredKey(config: AdminKeySettings): Promise<string | null> {
  const file = adminKeyPath(config)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw new OperatorError(`${file} cannot be read (${error.code}): make it readable or remove it`)
  })
  const key = text.trim()
  if (key === '' || parseApiKey(key)) return key || null
  throw new OperatorError(`${file} does not hold a key of the form <16 hex>:<32 hex>: correct or remove it`)
}
