import { Redis } from 'ioredis'

import { AdvisedError, OperatorError } from '../runtime/errors.ts'
import { reasonOf } from '../runtime/store-errors.ts'
import { type RedisPlace, urlsOf } from './place.ts'

const timeoutMs = 4_000

/**
 * Connects to REDIS_URL, of a cluster to one node, and checks the version. `isEmbedded`: no variable names it, so
 * Cuewire usually runs it itself. Throws an `OperatorError`.
 */
export async function checkRedis(redisUrl: string, { isEmbedded = false } = {}): Promise<RedisPlace> {
  const urls = urlsOf(redisUrl)
  const info = await Promise.any(urls.map(readInfo)).catch((error: unknown) => {
    const [first] = error instanceof AggregateError ? error.errors : [error]
    const [name, advice] = isEmbedded
      ? [
          'the Redis of this Cuewire does not answer',
          'restart Cuewire; if it uses your own Redis, start that'
        ]
      : ['Redis does not answer at REDIS_URL', 'start it, or correct the URL']
    throw new AdvisedError(`${name} (${reasonOf(first)})`, advice)
  })
  // Valkey reports the version of Redis that it is compatible with.
  const version = /^redis_version:((\d+)\.\S+)/m.exec(info)
  if (version && Number(version[2]) < 7)
    throw new OperatorError(`Redis ${version[1]} is too old: REDIS_URL needs Redis or Valkey 7 or newer`)
  const isCluster = /^cluster_enabled:1/m.test(info)
  if (!isCluster && urls.length > 1)
    throw new OperatorError('REDIS_URL lists several nodes, but the server is not a Redis Cluster: list one')
  if (isCluster && urls.some(url => !['', '/', '/0'].includes(new URL(url).pathname)))
    throw new OperatorError('REDIS_URL names a database, but a Redis Cluster has only database 0: remove it')
  if (/^cluster_state:fail/m.test(info))
    throw new OperatorError(
      'the Redis Cluster at REDIS_URL is down (cluster_state:fail): make sure that each slot is served by a node'
    )
  return { urls, isCluster }
}

async function readInfo(url: string): Promise<string> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null
  })
  // The first error is the reason. Pending commands only report that the connection is closed.
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
