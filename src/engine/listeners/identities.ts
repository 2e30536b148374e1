import { createHash, randomBytes } from 'node:crypto'

import type { ListenerCount, SourceKind } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { Sql } from '../../stores/db/sql.ts'
import {
  readConnectedIdentities,
  readStationCounting,
  type ReportedCount
} from '../../stores/redis/listener-store.ts'
import {
  readOpenSessions,
  renderListenerDetails,
  type ListenerSessionChanges
} from '../../stores/redis/session-store.ts'
import type { EngineServices } from '../services.ts'
import type { KnownIdentities } from './identity-cache.ts'
import {
  compareSessions,
  findEarliestStart,
  type ListenerConnection,
  maxListenerSessionMs,
  type ListenerSessionReport,
  type SourceSessions
} from './sessions.ts'

/** Listeners of a source that are identified; others are only counted. */
export const maxIdentities = 20_000

/**
 * The count of a source, named by id or path. `identities`: the hash of the listener of each connection, if known.
 * `connections`: the connections, in the same order.
 */
export type SourceCount = ListenerCount &
  ({ readonly id: number } | { readonly path: string }) & {
    readonly identities?: readonly string[]
    readonly connections?: readonly ListenerConnection[]
  }

/** A count with the kind of its source. */
export type SourceCountWithKind = SourceCount & { readonly kind: SourceKind }

/**
 * Replaces the identities of each count by those that connected and disconnected since the last report, which another
 * process may have made, and their connections by the sessions that began and ended. `isOutdated`: the cache must not
 * be used. Nothing that it returns contains an address.
 */
export async function computeIdentityChanges(
  { sql, redis, identities: cache }: EngineServices,
  stationId: number,
  counts: readonly SourceCountWithKind[],
  {
    isOutdated,
    sessions: report
  }: { readonly isOutdated: boolean; readonly sessions: ListenerSessionReport | null }
): Promise<ReportedCount[]> {
  if (counts.every(count => count.identities === undefined)) return counts.map(toReported)
  const isCached =
    !isOutdated && counts.every(count => !count.identities || cache.get(cacheKey(stationId, count)))
  const salts = await readSalts(sql, engineTimeMs())
  const stored = isCached ? null : await readStoredIdentities(redis, stationId)
  return counts.map(count => {
    const { identities, connections } = count
    const reported = toReported(count)
    if (identities === undefined) return reported
    const key = cacheKey(stationId, count)
    const known = stored ? stored(count, identities, salts) : cache.get(key)
    // Redis ignores or refuses the count of an unknown source.
    if (!known) return reported
    const { version } = known
    const { hashes, came, left } = compareIdentities(known.hashes, identities, salts)
    const isSame = came.length + left.length === 0
    const moved =
      report && connections && !(isSame && haveSameSessions(known.sessions, hashes, connections, report.atMs))
        ? moveSessions(known.sessions, hashes, { identities, connections }, report)
        : null
    const isChanged = !isSame || moved?.changes !== undefined
    const sessions = moved?.sessions ?? known.sessions
    cache.set(key, { version: version + (isChanged ? 1 : 0), hashes, sessions })
    return { ...reported, version, came, left, ...(moved?.changes && { sessions: moved.changes }) }
  })
}

/** The fields of a count that may leave the process: without identities and addresses. */
function toReported(count: SourceCountWithKind): ReportedCount {
  const { kind, total, unique } = count
  return 'id' in count ? { kind, id: count.id, total, unique } : { kind, path: count.path, total, unique }
}

/**
 * Whether the identities of these hashes, which have not changed, have one session each, as before, and none is too
 * long.
 */
function haveSameSessions(
  { starts, oldestMs }: SourceSessions,
  hashes: ReadonlyMap<string, string>,
  connections: readonly ListenerConnection[],
  atMs: number
): boolean {
  const isOneEach = connections.length === hashes.size && starts.size === hashes.size
  return isOneEach && atMs - oldestMs < maxListenerSessionMs
}

/** Returns the sessions after a report; `changes` is undefined if none began or ended. */
function moveSessions(
  before: SourceSessions,
  hashes: ReadonlyMap<string, string>,
  { identities, connections }: { identities: readonly string[]; connections: readonly ListenerConnection[] },
  report: ListenerSessionReport
): { readonly sessions: SourceSessions; readonly changes?: ListenerSessionChanges } {
  const seen = connections.flatMap((connection, index) => {
    const hash = hashes.get(identities[index] ?? '')
    return hash === undefined ? [] : [{ hash, seconds: connection.seconds, connection }]
  })
  const { sessions, opened, ended } = compareSessions(before, seen, report)
  if (opened.length + ended.length === 0) return { sessions }
  const began = opened.map(
    ({ token, startMs, connection: { connection } }) =>
      [token, startMs, renderListenerDetails(report.describe(connection))] as const
  )
  return { sessions, changes: { opened: began, ended } }
}

const cacheKey = (stationId: number, count: SourceCountWithKind) =>
  `${stationId} ${count.kind} ${'id' in count ? count.id : count.path}`

/** Makes the next report read the identities again: Redis may not have those of this one. */
export function invalidateIdentityCache(
  { identities: cache }: EngineServices,
  stationId: number,
  counts: readonly SourceCountWithKind[]
): void {
  for (const count of counts) cache.delete(cacheKey(stationId, count))
}

/** Reads the keys of the sources with identified listeners. */
export async function readIdentifiedSources(
  { redis }: Pick<EngineServices, 'redis'>,
  stationId: number
): Promise<ReadonlySet<string>> {
  const counting = await readStationCounting(redis, stationId)
  const sources = Object.entries(counting?.sources ?? {})
  return new Set(sources.flatMap(([key, { connected }]) => (connected > 0 ? [key] : [])))
}

/** Reads the connected identities of a station and their sessions. Returns a function that finds those of a source. */
async function readStoredIdentities(redis: EngineServices['redis'], stationId: number) {
  // The versions first: if identities change in between, the report is outdated.
  const counting = await readStationCounting(redis, stationId)
  const [connected, open] = await Promise.all([
    readConnectedIdentities(redis, stationId),
    readOpenSessions(redis, stationId)
  ])
  const sources = Object.entries(counting?.sources ?? {})
  return (
    count: SourceCountWithKind,
    identities: readonly string[],
    salts: IdentitySalts
  ): KnownIdentities | null => {
    const isSource = ([key, { path }]: (typeof sources)[number]) =>
      'id' in count
        ? key === `${count.kind}:${count.id}`
        : key.startsWith(`${count.kind}:`) && path === count.path
    const [key, source] = sources.find(isSource) ?? []
    if (key === undefined || source === undefined) return null
    const hashes = matchStoredHashes(connected.get(key) ?? new Set(), identities, salts)
    const starts = new Map([...(open.get(key) ?? [])].map(([token, { startMs }]) => [token, startMs]))
    const isTracked = source.isTracked === true
    return {
      version: source.version,
      hashes,
      sessions: { isTracked, starts, oldestMs: findEarliestStart(starts) }
    }
  }
}

/** Maps each connected identity to its stored hash. Hashes of other connected listeners map to themselves. */
export function matchStoredHashes(
  connected: ReadonlySet<string>,
  identities: readonly string[],
  salts: IdentitySalts
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
  salts: IdentitySalts
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
  return distinct.length <= maxIdentities ? distinct : distinct.toSorted().slice(0, maxIdentities)
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
export type IdentitySalts = readonly string[]

const known = new WeakMap<Sql, { readonly day: number; readonly salts: IdentitySalts }>()

/**
 * Reads the salts of the day and of the days before, newest first. Creates that of the day if there is none.
 */
async function readSalts(sql: Sql, nowMs: number): Promise<IdentitySalts> {
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
export async function removeExpiredSalts(sql: Sql, nowMs: number): Promise<number> {
  const { count } =
    await sql`delete from listener_salts where day < ${Math.floor(nowMs / dayMs) - formerSalts}`
  return count
}

function hashOf(salt: string, identity: string): string {
  return createHash('sha256').update(`${salt}\n${identity}`).digest('base64url').slice(0, 22)
}
