import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Dialect } from '../../model/station/dialect.ts'
import { openCache } from '../../platform/runtime/cache.ts'
import { openSingleFlight } from '../../platform/runtime/coalesce.ts'
import { withDeadline } from '../../platform/runtime/deadline.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { openAddressTokenBuckets } from '../core/token-buckets.ts'
import { type Permission, type Grants } from './access.ts'
import { isListenToken } from './listen-tokens.ts'
import { parseSessionToken, sessionIdleDays } from './session-cookie.ts'
import type { ParsedToken } from './tokens.ts'
import { combineRoleGrants, type UserGrantRow, userGrantColumns } from './user-grants.ts'

/** `<identifier>:<secret>`. Keys are found by identifier; of the secret only a hash is stored, SHA-256 for new keys. */
const format = /^([0-9a-f]{16}):([0-9a-f]{32})$/

/** The first half of a key, which identifies it. */
export const apiKeyIdentifierPattern = /^[0-9a-f]{16}$/

const sha512Bytes = 64

/** Whether a stored verifier is that of a key. Keys that were taken over from AzuraCast keep a SHA-512 hash. */
function isVerifierOf(stored: Uint8Array, key: string, { verifier }: ParsedToken): boolean {
  const [, , secret = ''] = format.exec(key) ?? []
  const given = stored.length === sha512Bytes ? createHash('sha512').update(secret).digest() : verifier
  return stored.length === given.length && timingSafeEqual(stored, given)
}

/** Parses a key into its identifier and the hash of its secret. Null for other text. */
export function parseApiKey(text: string): ParsedToken | null {
  const [, identifier, secret] = format.exec(text) ?? []
  return identifier && secret ? { identifier, verifier: createHash('sha256').update(secret).digest() } : null
}

/** A valid key or session, and its permissions. */
export interface ApiKey extends Grants {
  /** 0: a session. */
  readonly id: number
  /** For the audit log: the name of a key, the email address of a user, or both. */
  readonly name: string
  /** The user who has signed in, or whose key it is. */
  readonly user?: { readonly id: number; readonly sessionId: number | null } | null
  /** The dialect in which its requests are answered; null or absent: that of the installation. */
  readonly dialect?: Dialect | null
}

/** The name of a caller for rate limits. All sessions of a user share them. */
export const callerRateLimitName = ({ id, user }: Pick<ApiKey, 'id' | 'user'>): string =>
  id === 0 && user ? `user ${user.id}` : String(id)

/** A key to store. Without `expiresAt` it does not expire. */
export interface NewApiKey {
  readonly name: string
  readonly permissions: readonly Permission[]
  readonly stationPermissions?: Grants['stationPermissions']
  readonly expiresAt?: Date | null
  /** The user whose permissions the key has, instead of its own. */
  readonly userId?: number | null
  readonly dialect?: Dialect | null
}

/** Generates a random key. */
export function generateApiKey(): string {
  return `${randomBytes(8).toString('hex')}:${randomBytes(16).toString('hex')}`
}

/** Stores a key. Returns its id, or null if it exists: a revoked key remains revoked. */
export async function storeApiKey(tx: Sql | Tx, key: string, options: NewApiKey): Promise<number | null> {
  const {
    name,
    permissions,
    stationPermissions = {},
    expiresAt = null,
    userId = null,
    dialect = null
  } = options
  const parsed = parseApiKey(key)
  if (!parsed) throw new Error('malformed key')
  const byStation = Object.entries(stationPermissions).map(([id, granted]) => [id, [...granted]])
  const [stored] = await tx<{ id: number }[]>`
    insert into api_keys (name, identifier, verifier, permissions, station_permissions, expires_at, user_id,
      dialect)
    values (${name}, ${parsed.identifier}, ${parsed.verifier}, ${tx.json([...permissions])},
      ${tx.json(Object.fromEntries(byStation))}, ${expiresAt}, ${userId}, ${dialect})
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

interface ValidKey {
  readonly key: ApiKey
  /** By `performance.now()`. */
  readonly readAtMs: number
}

interface SessionRow {
  readonly id: number
  readonly verifier: Uint8Array
  readonly userId: number
  readonly email: string
}

/** A key, with its user if it has one. */
interface KeyRow extends Grants {
  readonly id: number
  readonly name: string
  readonly verifier: Uint8Array
  readonly dialect: Dialect | null
  readonly user: (UserGrantRow & { readonly id: number; readonly email: string }) | null
}

/**
 * Checks keys and sessions against Postgres, each at most once a second, with the permissions that their users
 * have then. `find` returns null for one that is missing, malformed, unknown, expired or revoked. It throws if
 * Postgres does not answer and the key was not valid within a minute.
 */
export function openKeyChecker(sql: Sql) {
  const valid = openCache<string, ValidKey>({ maxEntries: cacheSize, ttlMs: outageTtlMs })
  /** Separate, so that a flood of guesses evicts no valid key. */
  const invalid = openCache<string, true>({ maxEntries: cacheSize, ttlMs: cacheTtlMs })
  const readOnce = openSingleFlight<ApiKey | null>()
  const refusals = openAddressTokenBuckets(refusalsPerSecond, refusalsBurst)
  /** Of public routes, which ignore wrong keys: these must not use up what others at the address have. */
  const publicRefusals = openAddressTokenBuckets(refusalsPerSecond, refusalsBurst)
  const recentlyUsed = openCache<string, true>({ maxEntries: cacheSize, ttlMs: lastUsedStepMs })

  async function readKey(text: string, parsed: ParsedToken): Promise<ApiKey | null> {
    const [row] = await sql<KeyRow[]>`
      select k.id, k.name, k.permissions, k.station_permissions as "stationPermissions", k.verifier, k.dialect,
        (select to_jsonb(found) from (
          select u.id, u.email, ${userGrantColumns(sql)} from users u where u.id = k.user_id) found) as user
      from api_keys k
      where k.identifier = ${parsed.identifier} and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`
    if (!row || !isVerifierOf(row.verifier, text, parsed)) return null
    const { id, name, user, permissions, stationPermissions, dialect } = row
    recordUse('api_keys', id)
    if (user === null) return { id, name, permissions, stationPermissions, dialect }
    return {
      id,
      name: `${name} (${user.email})`,
      user: { id: user.id, sessionId: null },
      dialect,
      ...combineRoleGrants(user)
    }
  }

  async function readSession({ identifier, verifier }: ParsedToken): Promise<ApiKey | null> {
    const [row] = await sql<(UserGrantRow & SessionRow)[]>`
      select s.id, s.verifier, u.id as "userId", u.email, ${userGrantColumns(sql)}
      from sessions s join users u on u.id = s.user_id
      where s.identifier = ${identifier} and s.expires_at > now()
        and s.last_used_at > now() - make_interval(days => ${sessionIdleDays})`
    if (!row || !timingSafeEqual(row.verifier, verifier)) return null
    recordUse('sessions', row.id)
    const user = { id: row.userId, sessionId: row.id }
    return { id: 0, name: row.email, user, ...combineRoleGrants(row) }
  }

  async function read(text: string): Promise<ApiKey | null> {
    const session = parseSessionToken(text)
    if (session) return readSession(session)
    const key = parseApiKey(text)
    return key && readKey(text, key)
  }

  /** Not awaited: a failure only loses a time stamp. */
  function recordUse(table: 'api_keys' | 'sessions', id: number): void {
    const name = `${table} ${id}`
    if (recentlyUsed.get(name)) return
    recentlyUsed.set(name, true)
    sql`update ${sql(table)} set last_used_at = now() where id = ${id}`.catch(() => {})
  }

  async function readAndCache(text: string): Promise<ApiKey | null> {
    const key = await withDeadline(timeoutMs, 'checking a key', () => read(text))
    valid.delete(text)
    invalid.delete(text)
    if (key) valid.set(text, { key, readAtMs: performance.now() })
    else invalid.set(text, true)
    return key
  }

  async function find(text: string): Promise<ApiKey | null> {
    if (!format.test(text) && parseSessionToken(text) === null) return null
    const cached = valid.get(text)
    if (cached && performance.now() - cached.readAtMs < cacheTtlMs) return cached.key
    if (invalid.get(text)) return null
    try {
      return await readOnce(() => readAndCache(text), text)
    } catch (error) {
      if (cached) return cached.key
      throw error
    }
  }

  /**
   * Finds the key of a request. Returns the seconds to wait (0: none) for a key that is refused. After too
   * many refusals of an address only recently valid keys are checked, since others may share the address. They
   * are read again nevertheless, or a flood would keep a revoked key valid.
   */
  async function findFrom(text: string, address: string): Promise<ApiKey | number> {
    const wait = valid.get(text) ? 0 : refusals.peek(address)
    if (wait > 0) return wait
    // If Postgres does not answer, this throws: only what Postgres refuses counts.
    return (await find(text)) ?? refusals.take(address)
  }

  /**
   * Finds the dialect of the key of a public request; null if it has none, is wrong or cannot be checked. The
   * dialect of a key does not change, so that a key that was valid within a minute is not waited for.
   */
  async function findDialect(text: string, address: string): Promise<Dialect | null> {
    const cached = valid.get(text)
    if (cached) return cached.key.dialect ?? null
    if (isListenToken(text) || publicRefusals.peek(address) > 0) return null
    try {
      const key = await find(text)
      if (key === null) publicRefusals.take(address)
      return key?.dialect ?? null
    } catch {
      // Postgres does not answer, so the key may be valid.
      return null
    }
  }

  return {
    find,
    findFrom,
    findDialect,
    /**
     * Finds the key of a request for public data; null if it is refused or cannot be checked, and for a
     * listen token, which does not count as a refused key.
     */
    async findOptional(text: string, address?: string): Promise<ApiKey | null> {
      if (text === '' || isListenToken(text)) return null
      const found = await (address === undefined ? find(text) : findFrom(text, address)).catch(() => null)
      return typeof found === 'number' ? null : found
    },
    /**
     * Removes keys and sessions from the cache, so that their end or a change of their permissions takes effect
     * on this server at once.
     */
    forget(matches: (key: ApiKey) => boolean): void {
      valid.deleteWhere(({ key }) => matches(key))
    }
  }
}

export type KeyChecker = ReturnType<typeof openKeyChecker>
