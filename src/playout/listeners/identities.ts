import { createHash, randomBytes } from 'node:crypto'

import type { Sql } from '../../db/sql.ts'
import { readConnected, readCounting, type ReportedCount } from '../../redis/listener-store.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import type { PlayoutServices } from '../services.ts'
import type { CountWithKind } from './count-listeners.ts'

/** Listeners of a source that are identified; others are only counted. */
export const identitiesAtMost = 20_000

/** The connected identities of a source: the stored hash of each. */
interface KnownIdentities {
  /** See `CountedSource`. */
  readonly version: number
  readonly hashes: ReadonlyMap<string, string>
}

/** Identities that this process has reported, by station and source, least recently reported first. */
export type IdentityCache = Map<string, KnownIdentities>

/** Maximum number of sources in the cache. */
const cachedAtMost = 20_000

/**
 * Replaces the identities of each count by those that connected and disconnected since the last report, which
 * another process may have made. `isOutdated`: the cache must not be used.
 */
export async function computeIdentityChanges(
  { sql, redis, identities: cache }: PlayoutServices,
  stationId: number,
  counts: readonly CountWithKind[],
  isOutdated: boolean
): Promise<ReportedCount[]> {
  if (counts.every(count => count.identities === undefined)) return [...counts]
  const isCached =
    !isOutdated && counts.every(count => !count.identities || cache.has(cacheKey(stationId, count)))
  const salts = await readSalts(sql, engineTimeMs())
  const stored = isCached ? null : await readStoredIdentities(redis, stationId)
  return counts.map(({ identities, ...count }) => {
    if (identities === undefined) return count
    const key = cacheKey(stationId, count)
    const known = stored ? stored(count, identities, salts) : cache.get(key)
    // Redis ignores or refuses the count of an unknown source.
    if (!known) return count
    const { version } = known
    const { hashes, came, left } = compareIdentities(known.hashes, identities, salts)
    const isChanged = came.length + left.length > 0
    cacheIdentities(cache, key, { version: version + (isChanged ? 1 : 0), hashes })
    return { ...count, version, came, left }
  })
}

const cacheKey = (stationId: number, count: CountWithKind) =>
  `${stationId} ${count.kind} ${'id' in count ? count.id : count.path}`

/** Makes the next report read the identities again: Redis may not have those of this one. */
export function forgetIdentities(
  { identities: cache }: PlayoutServices,
  stationId: number,
  counts: readonly CountWithKind[]
): void {
  for (const count of counts) cache.delete(cacheKey(stationId, count))
}

function cacheIdentities(cache: IdentityCache, key: string, known: KnownIdentities): void {
  cache.delete(key)
  cache.set(key, known)
  const [oldest] = cache.keys()
  if (cache.size > cachedAtMost && oldest !== undefined) cache.delete(oldest)
}

/** Reads the keys of the sources with identified listeners. */
export async function readIdentifiedSources(
  { redis }: Pick<PlayoutServices, 'redis'>,
  stationId: number
): Promise<ReadonlySet<string>> {
  const counting = await readCounting(redis, stationId)
  const sources = Object.entries(counting?.sources ?? {})
  return new Set(sources.flatMap(([key, { connected }]) => (connected > 0 ? [key] : [])))
}

/** Reads the connected identities of a station. Returns a function that finds those of a source. */
async function readStoredIdentities(redis: PlayoutServices['redis'], stationId: number) {
  // The versions first: if identities change in between, the report is outdated.
  const counting = await readCounting(redis, stationId)
  const connected = await readConnected(redis, stationId)
  const sources = Object.entries(counting?.sources ?? {})
  return (count: CountWithKind, identities: readonly string[], salts: Salts): KnownIdentities | null => {
    const isSource = ([key, { path }]: (typeof sources)[number]) =>
      'id' in count
        ? key === `${count.kind}:${count.id}`
        : key.startsWith(`${count.kind}:`) && path === count.path
    const [key, source] = sources.find(isSource) ?? []
    if (key === undefined || source === undefined) return null
    const hashes = matchStoredHashes(connected.get(key) ?? new Set(), identities, salts)
    return { version: source.version, hashes }
  }
}

/** Maps each connected identity to its stored hash. Hashes of other connected listeners map to themselves. */
export function matchStoredHashes(
  connected: ReadonlySet<string>,
  identities: readonly string[],
  salts: Salts
) {
  const others = new Set(connected)
  const hashes = new Map<string, string>()
  for (const identity of new Set(identities)) {
    const hash = salts.map(salt => hashOf(salt, identity)).find(each => others.delete(each))
    if (hash !== undefined) hashes.set(identity, hash)
  }
  for (const hash of others) hashes.set(hash, hash)
  return hashes
}

/**
 * Returns the hashes of identities that connected (`came`) and disconnected (`left`), and the hash of each
 * identity. New ones are hashed with the newest salt.
 */
export function compareIdentities(
  before: ReadonlyMap<string, string>,
  identities: readonly string[],
  salts: Salts
) {
  const hashes = new Map(
    limitIdentities(identities).map(identity => [
      identity,
      before.get(identity) ?? hashOf(salts[0] ?? '', identity)
    ])
  )
  const [was, is] = [new Set(before.values()), new Set(hashes.values())]
  return {
    hashes,
    came: [...is].filter(hash => !was.has(hash)),
    left: [...was].filter(hash => !is.has(hash))
  }
}

/** Distinct identities. If there are too many, the same ones are chosen whatever their order. */
function limitIdentities(identities: readonly string[]): string[] {
  const distinct = [...new Set(identities)]
  return distinct.length <= identitiesAtMost ? distinct : distinct.toSorted().slice(0, identitiesAtMost)
}

/*
 * Listeners are stored as hashes with a daily salt that is deleted after two days, so that addresses cannot
 * be tried out. A listener keeps the salt of the day on which they connected; one who stays for longer counts
 * as another listener.
 */

const dayMs = 86_400_000
/** The number of older salts. */
const formerSalts = 2

/** Newest first. */
export type Salts = readonly string[]

const known = new WeakMap<Sql, { readonly day: number; readonly salts: Salts }>()

/**
 * Reads the salts of the day and of the days before, newest first. Creates that of the day if there is none.
 */
export async function readSalts(sql: Sql, nowMs: number): Promise<Salts> {
  const day = Math.floor(nowMs / dayMs)
  const before = known.get(sql)
  if (before?.day === day) return before.salts
  await sql`
    insert into listener_salts (day, salt) values (${day}, ${randomBytes(16).toString('base64url')})
    on conflict (day) do nothing`
  const rows = await sql<{ salt: string }[]>`
    select salt from listener_salts where day between ${day - formerSalts} and ${day} order by day desc`
  const salts = rows.map(({ salt }) => salt)
  known.set(sql, { day, salts })
  return salts
}

/** Deletes expired salts. Returns the number. */
export async function removeOldSalts(sql: Sql, nowMs: number): Promise<number> {
  const { count } =
    await sql`delete from listener_salts where day < ${Math.floor(nowMs / dayMs) - formerSalts}`
  return count
}

function hashOf(salt: string, identity: string): string {
  return createHash('sha256').update(`${salt}\n${identity}`).digest('base64url').slice(0, 22)
}
