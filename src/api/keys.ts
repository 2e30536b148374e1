import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Sql, Tx } from '../db/sql.ts'
import { withDeadline } from '../deadline.ts'
import { ApiError } from '../errors.ts'
import { allows, type Permission } from './access.ts'

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

/**
 * Stores a key with the given rights and tells whether it was new. One that was there keeps what became of it: a
 * revoked key stays revoked, however often it is stored.
 */
export async function storeKey(
  tx: Sql | Tx,
  key: string,
  name: string,
  permissions: readonly Permission[]
): Promise<boolean> {
  const [, identifier, secret] = shape.exec(key) ?? []
  if (!identifier || !secret) throw new Error('a key of the wrong shape')
  const stored = await tx`
    insert into api_keys (name, identifier, verifier, permissions)
    values (${name}, ${identifier}, ${verifierOf(secret)}, ${tx.json([...permissions])})
    on conflict (identifier) do nothing`
  return stored.count > 0
}

/** A key stays valid in a server's memory for this long after it was read: a revocation works within a second. */
const cacheMs = 900
/** While Postgres cannot be asked, a key that was valid lately still is. */
const outageMs = 60_000
const patienceMs = 1_500
const cacheSize = 10_000

/**
 * Checks keys against Postgres, at most once a second each. `find` gives null for a key that is missing, malformed,
 * unknown, expired or revoked; it throws when Postgres does not answer and the key was not valid a minute ago.
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
    if (!shape.test(text)) return null
    const cached = cache.get(text)
    const ageMs = cached ? Date.now() - cached.readAtMs : Infinity
    if (cached && ageMs < cacheMs) return cached.key
    try {
      const key = await withDeadline(patienceMs, 'checking a key', () => read(text))
      if (cache.size >= cacheSize) cache.clear()
      cache.set(text, { key, readAtMs: Date.now() })
      return key
    } catch (error) {
      if (cached?.key && ageMs < outageMs) return cached.key
      throw error
    }
  }

  return {
    find,
    /** Throws 403 unless the key is valid and carries the right. */
    async authorise(text: string, access: Permission): Promise<void> {
      const key = await find(text)
      if (!key) throw new ApiError('not-logged-in')
      if (!allows(key.permissions, access)) throw new ApiError('forbidden')
    },
    /** Whether the key may see private stations. Never rejects: a key that cannot be checked is no key. */
    async mayListen(text: string): Promise<boolean> {
      const key = await find(text).catch(() => null)
      return key !== null && allows(key.permissions, 'view station management')
    }
  }
}

export type Keys = ReturnType<typeof openKeys>
