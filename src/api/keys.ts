import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Sql, Tx } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import type { Permission } from './access.ts'

/**
 * Keys look like `<16 hex>:<32 hex>`: an identifier that finds the row, and a secret of which only the SHA-256 hash
 * is stored.
 */
const shape = /^([0-9a-f]{16}):([0-9a-f]{32})$/

/** A valid key and its rights. */
export interface Key {
  readonly id: number
  readonly permissions: readonly string[]
}

const verifierOf = (secret: string) => createHash('sha256').update(secret).digest()

/** A new random key in clear. */
export function generateKey(): string {
  return `${randomBytes(8).toString('hex')}:${randomBytes(16).toString('hex')}`
}

/** Stores a key with the given rights; a key that is already there gets them. */
export async function storeKey(tx: Sql | Tx, key: string, name: string, permissions: readonly Permission[]) {
  const [, identifier, secret] = shape.exec(key) ?? []
  if (!identifier || !secret) throw new Error('a key of the wrong shape')
  await tx`
    insert into api_keys (name, identifier, verifier, permissions)
    values (${name}, ${identifier}, ${verifierOf(secret)}, ${tx.json([...permissions])})
    on conflict (identifier) do update set verifier = excluded.verifier, permissions = excluded.permissions,
      revoked_at = null`
}

/** A key stays valid in a server's memory for this long after it was read: a revocation works within a second. */
const cacheMs = 900
const cacheSize = 10_000

/**
 * Checks keys against Postgres, at most once a second each. `find` gives null for a key that is missing, malformed,
 * unknown, expired or revoked.
 */
export function openKeys(sql: Sql) {
  const cache = new Map<string, { key: Key | null; readAtMs: number }>()

  async function read(text: string): Promise<Key | null> {
    const [, identifier, secret] = shape.exec(text) ?? []
    if (!identifier || !secret) return null
    const [row] = await sql<(Key & { verifier: Uint8Array })[]>`
      select id, permissions, verifier from api_keys
      where identifier = ${identifier} and revoked_at is null and (expires_at is null or expires_at > now())`
    if (!row || !timingSafeEqual(row.verifier, verifierOf(secret))) return null
    return { id: row.id, permissions: row.permissions }
  }

  async function find(text: string): Promise<Key | null> {
    const cached = cache.get(text)
    if (cached && Date.now() - cached.readAtMs < cacheMs) return cached.key
    const key = await read(text)
    if (cache.size >= cacheSize) cache.clear()
    // Unknown keys are not remembered, so that guessing cannot fill the memory.
    if (key) cache.set(text, { key, readAtMs: Date.now() })
    else cache.delete(text)
    return key
  }

  return {
    find,
    /** Throws 403 unless the key is valid and carries the right. */
    async authorise(text: string, access: Permission): Promise<void> {
      const key = await find(text)
      if (!key) throw new ApiError('not-logged-in')
      if (!key.permissions.includes('administer all') && !key.permissions.includes(access)) {
        throw new ApiError('forbidden')
      }
    },
    /** Whether the key may see private stations. */
    async mayListen(text: string): Promise<boolean> {
      return text !== '' && (await find(text)) !== null
    }
  }
}

export type Keys = ReturnType<typeof openKeys>
