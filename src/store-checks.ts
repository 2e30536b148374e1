import { Redis } from 'ioredis'

import type { Sql } from './db/sql.ts'
import { type RedisPlace, urlsOf } from './redis/place.ts'
import { OperatorError } from './runtime/errors.ts'
import { reasonOf } from './runtime/store-errors.ts'

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
 * Makes sure that a Redis or Valkey new enough answers at REDIS_URL, and says whether that is a cluster. Of
 * several nodes one is enough. Throws an `OperatorError` that says what to do.
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
      throw new Error('the server that answers is not Redis', { cause: error })
    throw reason ?? error
  } finally {
    redis.disconnect()
  }
}
