import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Sql, Tx } from '../../db/sql.ts'
import { decodePercent } from '../../outbound/networks.ts'
import { withDeadline } from '../../runtime/deadline.ts'
import { openAddressBuckets } from '../core/token-buckets.ts'
import { type Permission, type Grants } from './access.ts'

/** `<identifier>:<secret>`. Keys are found by identifier; of the secret only the SHA-256 hash is stored. */
const format = /^([0-9a-f]{16}):([0-9a-f]{32})$/

/** Removes the secrets of keys from a path, which may name a key to revoke it, in any encoding. */
export function redactKeys(path: string): string {
  // An invalid path may contain a key nevertheless.
  const decoded = decodePercent(path) ?? path.replace(/%3a/gi, ':')
  const redacted = decoded.replace(/([0-9a-f]{16}):[0-9a-f]{32}/gi, '$1')
  return redacted === decoded ? path : redacted
}

/** Parses a key into its identifier and the hash of its secret. Null for other text. */
export function parseKey(text: string): { readonly identifier: string; readonly verifier: Buffer } | null {
  const [, identifier, secret] = format.exec(text) ?? []
  return identifier && secret ? { identifier, verifier: createHash('sha256').update(secret).digest() } : null
}

/** A valid key and its permissions. */
export interface ApiKey extends Grants {
  readonly id: number
  readonly name: string
}

/** A key to store. Without `expiresAt` it does not expire. */
export interface NewApiKey {
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly stationPermissions?: Grants['stationPermissions']
  readonly expiresAt?: Date | null
}

/** Generates a random key. */
export function generateKey(): string {
  return `${randomBytes(8).toString('hex')}:${randomBytes(16).toString('hex')}`
}

/** Stores a key. Returns its id, or null if it exists: a revoked key remains revoked. */
export async function storeKey(tx: Sql | Tx, key: string, options: NewApiKey): Promise<number | null> {
  const { name, permissions, stationPermissions = {}, expiresAt = null } = options
  const parsed = parseKey(key)
  if (!parsed) throw new Error('malformed key')
  const byStation = Object.entries(stationPermissions).map(([id, granted]) => [id, [...granted]])
  const [stored] = await tx<{ id: number }[]>`
    insert into api_keys (name, identifier, verifier, permissions, station_permissions, expires_at)
    values (${name}, ${parsed.identifier}, ${parsed.verifier}, ${tx.json([...permissions])},
      ${tx.json(Object.fromEntries(byStation))}, ${expiresAt})
    on conflict (identifier) do nothing returning id`
  return stored?.id ?? null
}

/** A cached key remains valid for this long, so a revocation takes effect within a second. */
const cacheTtlMs = 900
/** While Postgres is unavailable, a key that was valid within this time remains valid. */
const outageTtlMs = 60_000
const timeoutMs = 1_500
const cacheSize = 10_000
/** The precision of `last_used_at`. */
const lastUsedStepMs = 30_000

/** Refused keys that an address may send. */
const refusalsPerSecond = 5
const refusalsBurst = 100

interface CachedKey {
  readonly key: ApiKey | null
  /** By `performance.now()`. */
  readonly readAtMs: number
}

/**
 * Checks keys against Postgres, each at most once a second. `find` returns null for a key that is missing,
 * malformed, unknown, expired or revoked. It throws if Postgres does not answer and the key was not valid
 * within a minute.
 */
export function openKeys(sql: Sql) {
  const valid = new Map<string, CachedKey>()
  /** Separate, so that a flood of guesses evicts no valid key. */
  const invalid = new Map<string, CachedKey>()
  const refusals = openAddressBuckets(refusalsPerSecond, refusalsBurst)
  const inFlight = new Map<string, Promise<ApiKey | null>>()
  const usedAtMs = new Map<number, number>()

  async function read(text: string): Promise<ApiKey | null> {
    const parsed = parseKey(text)
    if (!parsed) return null
    const [row] = await sql<(ApiKey & { verifier: Uint8Array })[]>`
      select id, name, permissions, station_permissions as "stationPermissions", verifier from api_keys
      where identifier = ${parsed.identifier} and revoked_at is null and (expires_at is null or expires_at > now())`
    if (!row || !timingSafeEqual(row.verifier, parsed.verifier)) return null
    const { verifier: _verifier, ...key } = row
    recordUse(key.id)
    return key
  }

  /** Not awaited: a failure only loses a time stamp. */
  function recordUse(id: number): void {
    const nowMs = performance.now()
    if (nowMs - (usedAtMs.get(id) ?? -Infinity) < lastUsedStepMs) return
    if (usedAtMs.size >= cacheSize) usedAtMs.clear()
    usedAtMs.set(id, nowMs)
    sql`update api_keys set last_used_at = now() where id = ${id}`.catch(() => {})
  }

  async function readAndCache(text: string): Promise<ApiKey | null> {
    const key = await withDeadline(timeoutMs, 'checking a key', () => read(text))
    valid.delete(text)
    invalid.delete(text)
    const cache = key ? valid : invalid
    const oldest = cache.keys().next()
    if (cache.size >= cacheSize && !oldest.done) cache.delete(oldest.value)
    cache.set(text, { key, readAtMs: performance.now() })
    return key
  }

  async function find(text: string): Promise<ApiKey | null> {
    if (!format.test(text)) return null
    const cached = valid.get(text) ?? invalid.get(text)
    const ageMs = cached ? performance.now() - cached.readAtMs : Infinity
    if (cached && ageMs < cacheTtlMs) return cached.key
    const reading = inFlight.get(text) ?? readAndCache(text).finally(() => inFlight.delete(text))
    inFlight.set(text, reading)
    try {
      return await reading
    } catch (error) {
      if (cached?.key && ageMs < outageTtlMs) return cached.key
      throw error
    }
  }

  /**
   * Finds the key of a request. Returns the seconds to wait (0: none) for a key that is refused. After too
   * many refusals of an address only recently valid keys are checked, since others may share the address. They
   * are read again nevertheless, or a flood would keep a revoked key valid.
   */
  async function findFrom(text: string, address: string): Promise<ApiKey | number> {
    const cached = valid.get(text)
    const wasValid = cached !== undefined && performance.now() - cached.readAtMs < outageTtlMs
    const key = wasValid || refusals.peek(address) === 0 ? await find(text) : null
    return key ?? refusals.take(address)
  }

  return {
    find,
    findFrom,
    /** Finds the key of a request for public data; null if it is refused or cannot be checked. */
    async findOptional(text: string, address?: string): Promise<ApiKey | null> {
      if (text === '') return null
      const found = await (address === undefined ? find(text) : findFrom(text, address)).catch(() => null)
      return typeof found === 'number' ? null : found
    },
    /** Removes a key from the cache, so that its revocation takes effect on this server at once. */
    forget(keyId: number): void {
      for (const [text, { key }] of valid) if (key?.id === keyId) valid.delete(text)
    }
  }
}

export type Keys = ReturnType<typeof openKeys>
