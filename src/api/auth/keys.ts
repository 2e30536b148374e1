import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Sql, Tx } from '../../db/sql.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { openAddressBuckets } from '../core/token-buckets.ts'
import { type Permission, type Rights } from './access.ts'

/**
 * Keys look like `<16 hex>:<32 hex>`: an identifier that finds the row, and a secret of which only the
 * SHA-256 hash is stored.
 */
const shape = /^([0-9a-f]{16}):([0-9a-f]{32})$/

/**
 * A path as it may be written down: a key can be named in it to revoke it, and the second half of a key is a
 * secret. It is found under any spelling of the path.
 */
export function withoutSecret(path: string): string {
  const decoded = path.includes('%') ? decode(path) : path
  const hidden = decoded.replace(/([0-9a-f]{16}):[0-9a-f]{32}/gi, '$1')
  return hidden === decoded ? path : hidden
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Nobody is named by such a path, but somebody may have tried.
    return path.replace(/%3a/gi, ':')
  }
}

/**
 * Which row a text names that is a whole key: its identifier, and the hash of its secret. Null for another
 * text.
 */
export function rowOfKey(text: string): { readonly identifier: string; readonly verifier: Buffer } | null {
  const [, identifier, secret] = shape.exec(text) ?? []
  return identifier && secret ? { identifier, verifier: verifierOf(secret) } : null
}

/** A valid key and its rights. */
export interface Key extends Rights {
  readonly id: number
  readonly name: string
}

/** Rights of a key by station id. */
export type StationPermissions = Readonly<Record<string, readonly string[]>>

/** What a new key is given. `expiresAt` null: it lasts. */
export interface NewKey {
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly stationPermissions?: StationPermissions
  readonly expiresAt?: Date | null
}

const verifierOf = (secret: string) => createHash('sha256').update(secret).digest()

/** A new random key in clear. */
export function generateKey(): string {
  return `${randomBytes(8).toString('hex')}:${randomBytes(16).toString('hex')}`
}

/**
 * Stores a key and gives its id, null if it was there. One that was there keeps what became of it: a revoked
 * key stays revoked, however often it is stored.
 */
export async function storeKey(tx: Sql | Tx, key: string, of: NewKey): Promise<number | null> {
  const row = rowOfKey(key)
  if (!row) throw new Error('a key of the wrong shape')
  const [stored] = await tx<{ id: number }[]>`
    insert into api_keys (name, identifier, verifier, permissions, station_permissions, expires_at)
    values (${of.name}, ${row.identifier}, ${row.verifier}, ${tx.json([...of.permissions])},
      ${tx.json(mutable(of.stationPermissions ?? {}))}, ${of.expiresAt ?? null})
    on conflict (identifier) do nothing returning id`
  return stored?.id ?? null
}

function mutable(permissions: StationPermissions) {
  return Object.fromEntries(Object.entries(permissions).map(([id, rights]) => [id, [...rights]]))
}

/**
 * A key stays valid in a server's memory for this long after it was read: a revocation works within a second.
 */
const cacheMs = 900
/** While Postgres cannot be asked, a key that was valid lately still is. */
const outageMs = 60_000
const timeoutMs = 1_500
const cacheSize = 10_000
/** How exact `last_used_at` is. */
const noteMs = 30_000

/** Refused keys that an address may send: so many a second, and so many at once. */
const refusedPerSecond = 5
const refusedBurst = 100

interface Remembered {
  readonly key: Key | null
  /** By `performance.now()`. */
  readonly readAtMs: number
}

/**
 * Checks keys against Postgres, at most once a second each. `find` gives null for a key that is missing,
 * malformed, unknown, expired or revoked; it throws when Postgres does not answer and the key was not valid a
 * minute ago.
 */
export function openKeys(sql: Sql) {
  const valid = new Map<string, Remembered>()
  /** Apart, so that a flood of guesses drives no valid key out. */
  const invalid = new Map<string, Remembered>()
  const refusals = openAddressBuckets(refusedPerSecond, refusedBurst)
  /** Questions under way: many requests with one key ask once. */
  const asked = new Map<string, Promise<Key | null>>()
  const notedAtMs = new Map<number, number>()

  async function read(text: string): Promise<Key | null> {
    const named = rowOfKey(text)
    if (!named) return null
    const [row] = await sql<(Key & { verifier: Uint8Array })[]>`
      select id, name, permissions, station_permissions as "stationPermissions", verifier from api_keys
      where identifier = ${named.identifier} and revoked_at is null and (expires_at is null or expires_at > now())`
    if (!row || !timingSafeEqual(row.verifier, named.verifier)) return null
    const { verifier: _verifier, ...key } = row
    noteUse(key.id)
    return key
  }

  /** Nobody waits for it, and a failure costs a time stamp. */
  function noteUse(id: number): void {
    const nowMs = performance.now()
    if (nowMs - (notedAtMs.get(id) ?? -Infinity) < noteMs) return
    if (notedAtMs.size >= cacheSize) notedAtMs.clear()
    notedAtMs.set(id, nowMs)
    sql`update api_keys set last_used_at = now() where id = ${id}`.catch(() => {})
  }

  async function ask(text: string): Promise<Key | null> {
    const key = await withDeadline(timeoutMs, 'checking a key', () => read(text))
    valid.delete(text)
    invalid.delete(text)
    const cache = key ? valid : invalid
    const oldest = cache.size >= cacheSize ? cache.keys().next() : { done: true as const }
    if (!oldest.done) cache.delete(oldest.value)
    cache.set(text, { key, readAtMs: performance.now() })
    return key
  }

  async function find(text: string): Promise<Key | null> {
    if (!shape.test(text)) return null
    const cached = valid.get(text) ?? invalid.get(text)
    const ageMs = cached ? performance.now() - cached.readAtMs : Infinity
    if (cached && ageMs < cacheMs) return cached.key
    const running = asked.get(text) ?? ask(text).finally(() => asked.delete(text))
    asked.set(text, running)
    try {
      return await running
    } catch (error) {
      if (cached?.key && ageMs < outageMs) return cached.key
      throw error
    }
  }

  /**
   * The same for a request from an address. Where too much was refused, only a key that was valid a moment
   * ago is looked at: somebody else may share the address. Whether it is valid still has to be asked, or a
   * flood would keep a revoked key alive. Gives the seconds to wait (0: none) instead of a key that is
   * refused.
   */
  async function findFrom(text: string, address: string): Promise<Key | number> {
    const known = valid.get(text)
    const isRemembered = known !== undefined && performance.now() - known.readAtMs < outageMs
    const isHeard = isRemembered || refusals.peek(address) === 0
    const key = isHeard ? await find(text) : null
    return key ?? refusals.take(address)
  }

  return {
    find,
    findFrom,
    /**
     * The key of somebody who asks for what is public, and may see more with it; `address` where it came with
     * a request. Never rejects: a key that cannot be checked is no key.
     */
    async listener(text: string, address?: string): Promise<Key | null> {
      if (text === '') return null
      const found = await (address === undefined ? find(text) : findFrom(text, address)).catch(() => null)
      return typeof found === 'number' ? null : found
    },
    /** Forgets what is remembered of a key, so that this server knows at once. */
    forget(keyId: number): void {
      for (const [text, { key }] of valid) if (key?.id === keyId) valid.delete(text)
    }
  }
}

export type Keys = ReturnType<typeof openKeys>
