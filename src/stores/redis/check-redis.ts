import { Redis } from 'ioredis'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { AdvisedError, OperatorError } from '../../platform/runtime/operator-error.ts'
import { isDeniedByRedis, describeError } from '../../platform/runtime/store-errors.ts'
import { probeWritesScript } from './connection.ts'
import { changesChannel, jobProbeKeys, probeKey } from './keys.ts'
import { type RedisPlace, splitRedisUrls } from './redis-place.ts'
import { redisConnectionOptions, findRedisUrlProblem, parseRedisUrl, type RedisUrl } from './redis-url.ts'

const timeoutMs = 4_000
const noRetries = {
  lazyConnect: true,
  connectTimeout: timeoutMs,
  commandTimeout: timeoutMs,
  maxRetriesPerRequest: 0,
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null
}

/**
 * Connects to REDIS_URL, of a cluster to one node, and checks the version, the database and the permissions.
 * `isEmbedded`: no variable names it, so Cuewire usually runs it itself. Throws an `OperatorError`.
 */
export async function resolveRedisPlace(redisUrl: string, { isEmbedded = false } = {}): Promise<RedisPlace> {
  const problem = findRedisUrlProblem(redisUrl)
  if (problem !== null) throw new OperatorError(`REDIS_URL ${problem}`)
  const urls = splitRedisUrls(redisUrl)
  const info = await Promise.any(urls.map(async url => readInfo(parseRedisUrl(url)))).catch(
    (error: unknown) => {
      const [first]: unknown[] = error instanceof AggregateError ? error.errors : [error]
      if (first instanceof OperatorError) throw first
      if (isDeniedByRedis(first))
        throw new AdvisedError(
          `the user of REDIS_URL lacks a permission of Redis (${describeError(first)})`,
          'give it the rules of docs/configuration.md with ACL SETUSER'
        )
      const [name, advice] = isEmbedded
        ? [
            'the Redis of this Cuewire does not answer',
            'restart Cuewire; if it uses your own Redis, start that'
          ]
        : ['Redis does not answer at REDIS_URL', adviceFor(first, urls[0]) ?? 'start it, or correct the URL']
      throw new AdvisedError(`${name} (${describeError(first)})`, advice)
    }
  )
  if (/^redis_mode:sentinel/m.test(info))
    throw new AdvisedError(
      'REDIS_URL leads to a Redis Sentinel, not to a Redis',
      'write redis+sentinel://HOST:PORT/NAME with the name of the primary'
    )
  // Valkey reports the version of Redis that it is compatible with.
  const version = /^redis_version:((\d+)\.\S+)/m.exec(info)
  if (version && Number(version[2]) < 7)
    throw new OperatorError(`Redis ${version[1]} is too old: REDIS_URL needs Redis or Valkey 7 or newer`)
  const isCluster = /^cluster_enabled:1/m.test(info)
  if (!isCluster && urls.length > 1)
    throw new AdvisedError('REDIS_URL lists several nodes, but the server is not a Redis Cluster', 'list one')
  if (isCluster && urls.some(url => parseRedisUrl(url).database !== 0))
    throw new AdvisedError('REDIS_URL names a database, but a Redis Cluster has only database 0', 'remove it')
  if (/^cluster_state:fail/m.test(info))
    throw new AdvisedError(
      'the Redis Cluster at REDIS_URL is down (cluster_state:fail)',
      'make sure that each slot is served by a node'
    )
  return { urls, isCluster }
}

/** Reads what the server says about itself. Throws an `OperatorError` if it cannot be used as it is. */
async function readInfo(url: RedisUrl): Promise<string> {
  if (url.sentinel !== null) await checkSentinels(url)
  const info = await ask({ ...redisConnectionOptions(url), db: 0 }, async redis => {
    const [server, cluster] = await Promise.all([redis.info('server'), redis.info('cluster')])
    const isCluster = /^cluster_enabled:1/m.test(cluster)
    const state = isCluster ? await redis.cluster('INFO') : ''
    if (!isCluster && !/^redis_mode:sentinel/m.test(server)) {
      if (url.database !== 0) await selectDatabase(redis, url.database)
      await tryPermissions(redis)
    }
    return `${server}\n${cluster}\n${state}`
  })
  return info
}

/** Without this, a connection stays in database 0. */
async function selectDatabase(redis: Redis, database: number): Promise<void> {
  await redis.select(database).catch((error: unknown) => {
    if (!/out of range/i.test(describeError(error))) throw error
    throw new AdvisedError(
      `REDIS_URL names database ${database}, which does not exist (${describeError(error)})`,
      'name one below the setting "databases" of Redis, by default 16',
      { cause: error }
    )
  })
}

/** Throws if the user of the URL may not use the keys, the channels and scripts. Changes nothing. */
async function tryPermissions(redis: Redis): Promise<void> {
  try {
    // In a transaction BZPOPMIN never waits. Elsewhere Redis notices the end of any timeout only ten times a second.
    const trial = redis.multi()
    for (const key of [probeKey(0), ...jobProbeKeys])
      trial.eval(probeWritesScript, 1, key).bzpopmin(key, 0.001)
    for (const [error] of (await trial.exec()) ?? []) if (error) throw error
    await redis.ssubscribe(changesChannel(0))
  } catch (error) {
    const refusal = findRefusal(error)
    if (isDeniedByRedis(refusal)) throw refusal
  }
}

/**
 * Returns the answer with which Redis refused a command. It discards a transaction for the first command that it
 * refused.
 */
function findRefusal(error: unknown): unknown {
  const refused: unknown = error instanceof Error ? Reflect.get(error, 'previousErrors') : undefined
  const [first]: unknown[] = Array.isArray(refused) ? refused : []
  return first ?? error
}

/** Throws an `OperatorError` unless a Sentinel answers and names a primary. */
async function checkSentinels({ hosts, sentinel, ...url }: RedisUrl): Promise<void> {
  if (sentinel === null) return
  const { name, username, password } = sentinel
  const failures: string[] = []
  for (const { host, port } of hosts) {
    const place = {
      ...url,
      hosts: [{ host, port }],
      username,
      password,
      database: 0,
      sentinel: null
    } as const
    try {
      const found = await ask(redisConnectionOptions(place), async redis =>
        redis.call('SENTINEL', 'get-master-addr-by-name', name)
      )
      if (found !== null) return
      failures.push(`${host}:${port} knows no primary of this name`)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      failures.push(`${host}:${port}: ${describeError(error)}`)
    }
  }
  throw new AdvisedError(
    `no Sentinel of REDIS_URL names the primary "${name}" (${failures.join('; ')})`,
    'start the Sentinels, or correct their addresses, the name, or sentinel_password'
  )
}

/** Opens a connection for one question. Throws the reason if it cannot be opened. */
async function ask<Result>(
  options: ReturnType<typeof redisConnectionOptions>,
  question: (redis: Redis) => Promise<Result>
): Promise<Result> {
  const redis = new Redis({ ...options, ...noRetries })
  // The first error is the reason. Pending commands only report that the connection is closed.
  let reason: unknown
  redis.on('error', (error: unknown) => (reason ??= error))
  try {
    await redis.connect()
    return await question(redis)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if (describeError(reason).startsWith('Unknown RESP type'))
      throw new Error('the server that answers is not Redis', { cause: error })
    throw reason ?? error
  } finally {
    redis.disconnect()
  }
}

/** What an operator can do about a connection that fails; null: as usual. */
function adviceFor(error: unknown, url: string): string | null {
  const [code, reason] = [errorCodeOf(error), describeError(error)]
  if (/^(SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY))/.test(code))
    return 'set REDIS_CA_FILE to the certificate of the authority that signed that of Redis'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'use a name that the certificate of Redis contains (for Sentinel: the name that Redis announces)'
  if (code === 'CERT_HAS_EXPIRED') return 'renew the certificate of Redis'
  // A Redis without TLS waits for the rest of the command.
  if (reason.startsWith('connect ETIMEDOUT') && parseRedisUrl(url).isTls)
    return 'start it, or correct the URL; if Redis does not use TLS on this port, begin the URL with redis:'
  if (code.startsWith('ERR_SSL') || /wrong version number/i.test(reason))
    return 'if Redis does not use TLS on this port, begin the URL with redis:'
  if (/^(Connection is closed|read ECONNRESET|write (ECONNRESET|EPIPE))/.test(reason))
    return 'if Redis uses TLS on this port, begin the URL with rediss:; otherwise see its log'
  if (/^(WRONGPASS|NOAUTH|ERR AUTH)/.test(reason))
    return 'correct the user and password in the URL (redis://USER:PASSWORD@HOST, without a user redis://:PASSWORD@HOST)'
  return null
}
