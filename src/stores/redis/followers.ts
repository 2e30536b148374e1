import type { RedisClient } from './connection.ts'
import { followerProcessesKey, followersKey } from './keys.ts'

/** How a client follows a station. */
export const followerTransports = ['websocket', 'sse', 'http_stream', 'long_poll'] as const
export type FollowerTransport = (typeof followerTransports)[number]

/** The followers of a station by transport. */
export type FollowerCounts = Readonly<Record<FollowerTransport, number>>

/** The counts of a process that stopped writing are dropped after this time. */
const ttlMs = 10_000
const maxProcesses = 1_000
const fieldsAtOnce = 1_000

export const noFollowers: FollowerCounts = { websocket: 0, sse: 0, http_stream: 0, long_poll: 0 }

/**
 * Writes the counts of a server process that have changed; null: the station has no followers. With
 * `replacesAll`, they replace all counts of the process. Returns false if Redis lost the earlier ones.
 */
export async function writeFollowers(
  redis: RedisClient,
  processId: string,
  changes: ReadonlyMap<number, FollowerCounts | null>,
  { nowMs, replacesAll }: { readonly nowMs: number; readonly replacesAll: boolean }
): Promise<boolean> {
  const key = followersKey(processId)
  const kept = [...changes].filter(([, counts]) => counts !== null)
  const removed = [...changes].filter(([, counts]) => counts === null)
  const batch = redis.multi()
  if (replacesAll) batch.del(key)
  batch.exists(key)
  for (let start = 0; start < kept.length; start += fieldsAtOnce) {
    const fields = kept.slice(start, start + fieldsAtOnce)
    batch.hset(
      key,
      ...fields.flatMap(([stationId, counts]) => [stationId, encodeCounts(counts ?? noFollowers)])
    )
  }
  for (let start = 0; start < removed.length; start += fieldsAtOnce)
    batch.hdel(key, ...removed.slice(start, start + fieldsAtOnce).map(([stationId]) => String(stationId)))
  batch.hset(key, 'at', Math.floor(nowMs))
  batch.pexpire(key, ttlMs)
  batch.zadd(followerProcessesKey, nowMs, processId)
  batch.zremrangebyscore(followerProcessesKey, '-inf', nowMs - ttlMs)
  batch.pexpire(followerProcessesKey, ttlMs)
  const results = (await batch.exec()) ?? []
  const failure = results.find(([error]) => error !== null)?.[0]
  if (failure) throw failure
  return replacesAll || results[0]?.[1] === 1
}

/** Removes the counts of a process that stops. */
export async function removeFollowers(redis: RedisClient, processId: string): Promise<void> {
  await redis.multi().del(followersKey(processId)).zrem(followerProcessesKey, processId).exec()
}

/**
 * Reads the followers of a station on all server processes. `atMs`: when the oldest of these counts was
 * current, in Unix milliseconds; null if no process has written any.
 */
export async function readFollowers(
  redis: RedisClient,
  stationId: number,
  nowMs: number
): Promise<{ readonly atMs: number | null; readonly counts: FollowerCounts }> {
  const since = nowMs - ttlMs
  const processIds = await redis.zrangebyscore(followerProcessesKey, since, '+inf', 'LIMIT', 0, maxProcesses)
  const batch = redis.pipeline()
  for (const processId of processIds) batch.hmget(followersKey(processId), 'at', String(stationId))
  const results = processIds.length === 0 ? [] : ((await batch.exec()) ?? [])
  let atMs: number | null = null
  const counts: Record<FollowerTransport, number> = { ...noFollowers }
  for (const [error, values] of results) {
    if (error !== null) throw error
    const [at, text]: readonly unknown[] = Array.isArray(values) ? values : []
    // It expired meanwhile.
    if (typeof at !== 'string') continue
    atMs = Math.min(atMs ?? Infinity, Number(at))
    const own = decodeCounts(text)
    for (const transport of followerTransports) counts[transport] += own[transport]
  }
  return { atMs, counts }
}

/** `12,3,0,1`, in the order of `followerTransports`. */
const encodeCounts = (counts: FollowerCounts) => followerTransports.map(name => counts[name]).join()

function decodeCounts(text: unknown): FollowerCounts {
  const numbers = typeof text === 'string' ? text.split(',').map(Number) : []
  const [websocket = 0, sse = 0, stream = 0, poll = 0] = numbers
  return { websocket, sse, http_stream: stream, long_poll: poll }
}
