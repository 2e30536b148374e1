import type { ListenerCount, PlayCounts, SourceKind } from '../../model/station/state.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import type { RedisClient } from './connection.ts'
import { countingKey, flushingKey, identitiesKey, shardOf, unflushedKey } from './keys.ts'
import type { ListenerSessionChanges } from './session-store.ts'
import { scriptKeys } from './station-store.ts'

/** New counts of some sources of a station. */
export interface CountsReport {
  /** Null: the sums over all sources. */
  readonly totals: ListenerCount | null
  readonly counts: readonly ReportedCount[]
  /** Whether unknown sources, and all counts of a source but its first, are left out instead of refused. */
  readonly ignoresUnknown: boolean
}

/** The new count of a source, named by id or path. */
export type ReportedCount = ListenerCount & { readonly kind: SourceKind } & (
    | { readonly id: number }
    | { readonly path: string }
  ) &
  Partial<IdentityChanges>

/** The identities that connected and disconnected since `version`. A count without them disconnects all identities. */
interface IdentityChanges {
  readonly version: number
  readonly came: readonly string[]
  readonly left: readonly string[]
  /** Missing if no session began or ended. */
  readonly sessions?: ListenerSessionChanges
}

/** A source that does not match: unknown, or counted twice. `index`: of the count in the report. */
interface SourceProblem {
  readonly index: number
  readonly code: 'not_found' | 'duplicate'
}

/**
 * The result of a report. `missing`: no state is stored. `outdated`: identities changed since they were read.
 * `hasEvents`: events for web hooks wait for the flush.
 */
export type CountsReportOutcome =
  | { readonly status: 'missing' | 'outdated' | 'unchanged' }
  | { readonly status: 'refused'; readonly problems: readonly SourceProblem[] }
  | { readonly status: 'counted'; readonly hasEvents: boolean }

/** Applies a report to the counts of a station in Redis, and publishes them if they changed. */
export async function applyCountsReport(
  redis: RedisClient,
  stationId: number,
  report: CountsReport
): Promise<CountsReportOutcome> {
  const [status, detail] = await redis.countListeners(
    ...scriptKeys(stationId),
    stationId,
    JSON.stringify(report),
    engineTimeMs()
  )
  if (status === 'refused') return { status, problems: detail.split(',').map(parseProblem) }
  if (status === 'counted') return { status, hasEvents: detail === 'events' }
  return { status: status === 'missing' || status === 'outdated' ? status : 'unchanged' }
}

function parseProblem(text: string): SourceProblem {
  const [index, code] = text.split(' ')
  return { index: Number(index), code: code === 'duplicate' ? code : 'not_found' }
}

/** The listener counts of a station in Redis; see `lua/counting.lua`. */
export interface StationCounting extends ListenerCount {
  readonly hasHooks: boolean
  readonly sources: Readonly<Record<string, CountedSource>>
  readonly play?: PlayCounts
  readonly minute?: MinuteCounts
}

/**
 * A source. `connected`: identities that are connected. `isTracked`: whether its sessions were ever recorded. `version`
 * rises with each change of the identities.
 */
interface CountedSource extends ListenerCount {
  readonly path: string
  readonly connected: number
  readonly isTracked?: boolean
  readonly version: number
}

/** The last, most and fewest listeners of a minute. `at`: minutes since 1970. */
interface MinuteCounts extends ListenerCount {
  readonly at: number
  readonly most: number
  readonly fewest: number
}

/** The numbers of a play that ended. `next`: the play that followed; those between had no reports. */
interface EndedPlay extends PlayCounts {
  readonly end: number
  readonly next?: number
}

/** A change of the total for web hooks. */
export interface TotalChangeEvent extends ListenerCount {
  readonly offset: number
  readonly trigger: 'listener_gained' | 'listener_lost'
  readonly atMs: number
}

/** Reads the listener counts of a station; null if Redis has none. */
export async function readStationCounting(
  redis: RedisClient,
  stationId: number
): Promise<StationCounting | null> {
  const text = await redis.hget(countingKey(stationId), 'counting')
  return text === null ? null : parseCounting(text)
}

function parseCounting(text: string): StationCounting {
  // Written by our scripts only.
  return JSON.parse(text)
}

/** The score of a connected identity; others have the time of their disconnection. */
const connectedScore = Number.MAX_SAFE_INTEGER

/** Reads the connected identities of a station, by source. */
export async function readConnectedIdentities(redis: RedisClient, stationId: number) {
  const members = await redis.zrangebyscore(identitiesKey(stationId), String(connectedScore), '+inf')
  const bySource = new Map<string, Set<string>>()
  for (const member of members) {
    const [key = '', identity = ''] = member.split(' ')
    bySource.set(key, (bySource.get(key) ?? new Set()).add(identity))
  }
  return bySource
}

/** The unflushed counts of a station, up to an offset. `fields`: as stored, for `acknowledgeFlush`. */
export interface UnflushedStation {
  readonly stationId: number
  readonly offset: number
  readonly counting: StationCounting
  readonly ended: readonly EndedPlay[]
  readonly minutes: readonly MinuteCounts[]
  readonly events: readonly TotalChangeEvent[]
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** Acquires the lease of the flush of a shard. Returns false if another process holds it. */
export async function acquireFlushLease(redis: RedisClient, shard: number, forMs: number): Promise<boolean> {
  return (await redis.set(flushingKey(shard), '1', 'PX', forMs, 'NX')) === 'OK'
}

/** Finds the stations of a shard with unflushed counts, by the offset of their newest change. */
export async function findUnflushedStations(
  redis: RedisClient,
  shard: number,
  limit: number
): Promise<number[]> {
  return (await redis.zrange(unflushedKey(shard), '0', String(limit - 1))).map(Number)
}

/** Reads the unflushed counts of a station; null if there are none. */
export async function readUnflushedCounts(
  redis: RedisClient,
  stationId: number
): Promise<UnflushedStation | null> {
  // Executed in this order: the fields may be newer than the score, and are then flushed again.
  const [score, fields] = await Promise.all([
    redis.zscore(unflushedKey(shardOf(stationId)), String(stationId)),
    redis.hgetall(countingKey(stationId))
  ])
  const { counting } = fields
  if (counting === undefined || score === null) return null
  const waiting = Object.entries(fields).filter(([name]) => /^(ended|minute|event):/.test(name))
  const of = <T>(kind: string, parse: (id: number, value: string) => T) =>
    waiting
      .filter(([name]) => name.startsWith(kind))
      .map(([name, value]) => parse(Number(name.slice(kind.length)), value))
  return {
    stationId,
    offset: Number(score),
    counting: parseCounting(counting),
    ended: of('ended:', (_, value): EndedPlay => JSON.parse(value)),
    minutes: of('minute:', (_, value): MinuteCounts => JSON.parse(value)),
    events: of('event:', (offset, value): TotalChangeEvent => ({ ...JSON.parse(value), offset })).toSorted(
      (a, b) => a.offset - b.offset
    ),
    fields: waiting
  }
}

/** Removes what was flushed from Redis, unless it changed meanwhile. */
export async function acknowledgeFlush(
  redis: RedisClient,
  { stationId, offset, fields }: UnflushedStation
): Promise<void> {
  await redis.acknowledgeFlush(...scriptKeys(stationId), stationId, offset, ...fields.flat())
}
