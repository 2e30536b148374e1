import { Redis } from 'ioredis'

import type { Sql } from './db/sql.ts'
import { OperatorError } from './errors.ts'
import { type RedisPlace, urlsOf } from './redis/connection.ts'

const answerMs = 4_000

/** Makes sure that a Postgres new enough answers. Throws an `OperatorError` that says what to do. */
export async function checkPostgres(sql: Sql): Promise<void> {
  const [row] = await sql<{ number: number; name: string }[]>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as name`.catch(
    (error: unknown) => {
      throw new OperatorError(
        `Postgres does not answer at DATABASE_URL (${reasonOf(error)}): start it, or correct the URL`
      )
    }
  )
  if (!row || row.number < 140_000)
    throw new OperatorError(`Postgres ${row?.name} is too old: DATABASE_URL needs version 14 or newer`)
}

/**
 * Makes sure that a Redis or Valkey new enough answers at REDIS_URL, and says whether that is a cluster. Of several nodes
 * one is enough. Throws an `OperatorError` that says what to do.
 */
export async function checkRedis(redisUrl: string): Promise<RedisPlace> {
  const urls = urlsOf(redisUrl)
  const info = await Promise.any(urls.map(readInfo)).catch((error: unknown) => {
    const [first] = error instanceof AggregateError ? error.errors : [error]
    throw new OperatorError(
      `Redis does not answer at REDIS_URL (${reasonOf(first)}): start it, or correct the URL`
    )
  })
  // Valkey tells the version of Redis that it is compatible with.
  const version = /^redis_version:((\d+)\.\S+)/m.exec(info)
  if (version && Number(version[2]) < 7)
    throw new OperatorError(`Redis ${version[1]} is too old: REDIS_URL needs Redis or Valkey 7 or newer`)
  const isCluster = /^cluster_enabled:1/m.test(info)
  if (!isCluster && urls.length > 1)
    throw new OperatorError(
      'REDIS_URL names several nodes, but the one that answers is no Redis Cluster: name one'
    )
  if (isCluster && urls.some(url => !['', '/', '/0'].includes(new URL(url).pathname)))
    throw new OperatorError(
      'REDIS_URL names a database, but a Redis Cluster has only database 0: leave it out'
    )
  if (/^cluster_state:fail/m.test(info))
    throw new OperatorError(
      'the Redis Cluster at REDIS_URL is down (cluster_state:fail): see that a node serves each of its slots'
    )
  return { urls, isCluster }
}

/** What a node says of itself, and of its cluster where it belongs to one. */
async function readInfo(url: string): Promise<string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: answerMs,
    commandTimeout: answerMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null
  })
  // The first fault is the reason; what waits for the connection only hears that it is closed.
  let reason: unknown
  redis.on('error', (error: unknown) => (reason ??= error))
  try {
    const [server, cluster] = await Promise.all([redis.info('server'), redis.info('cluster')])
    const state = /^cluster_enabled:1/m.test(cluster) ? await redis.cluster('INFO') : ''
    return `${server}\n${cluster}\n${state}`
  } catch (error) {
    if (reasonOf(reason).startsWith('Unknown RESP type'))
      throw new Error('what answers there is no Redis', { cause: error })
    throw reason ?? error
  } finally {
    redis.disconnect()
  }
}

/** Whether a fault means that Postgres or Redis went away, as they may in the middle of a start. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|CONNECTION_|CONNECT_TIMEOUT|57P0)/.test(code) ||
    ['MaxRetriesPerRequestError', 'ClusterAllFailedError'].includes(error.name) ||
    /^(Connection is closed|Stream isn't writeable|Command timed out|connecting to Redis took longer|CLUSTERDOWN|Too many Cluster redirections)/.test(
      error.message
    )
  )
}

/** Whether a fault means that a store is away or cannot keep up: the same call may succeed in a moment. */
export function isStoreFault(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // Out of resources, a lock or a statement that took too long, a transaction that was given up or got in the way of another, a Postgres
  // that only reads, as after a failover.
  return isStoreAway(error) || /^(53|55P03|57014|25P03|25006|40)/.test(code)
}

/** What a fault says, in a few words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection to a name with several addresses has a code and no message.
  return error.message || ('code' in error ? String(error.code) : error.name)
}
