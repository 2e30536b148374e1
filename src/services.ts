import { Cluster, type Redis } from 'ioredis'

import type { Config } from './config.ts'
import { migrateDatabase } from './db/migrate.ts'
import { register } from './db/processes.ts'
import { openSql } from './db/sql.ts'
import { openAdvanceQueue, openDeliverQueue } from './jobs/queues.ts'
import { openLibraries } from './playout/queue/libraries.ts'
import type { PlayoutServices } from './playout/services.ts'
import { openProducer, openRedis, type RedisClient } from './redis/connection.ts'
import type { RedisPlace } from './redis/place.ts'
import { ownSchema, readableSchemas } from './redis/state-schema.ts'
import { openCoalescer } from './runtime/coalesce.ts'
import { withDeadline } from './runtime/deadline.ts'
import { OperatorError } from './runtime/errors.ts'
import type { Logger } from './runtime/log.ts'
import { openReleasers } from './shutdown.ts'
import { checkPostgres, checkRedis } from './store-checks.ts'
import { triggersFor } from './webhooks/types/hook-types.ts'

const connectMs = 10_000

/** Everything a process works with, opened; disposing closes it in reverse. */
export interface Services extends PlayoutServices, AsyncDisposable {
  readonly databaseUrl: string
  readonly redisPlace: RedisPlace
}

/**
 * Opens Postgres, Redis and the job queue of a process, makes sure that both stores answer, brings the schema
 * of Postgres up to date and registers the process there. Throws an `OperatorError` that says what stands in
 * the way.
 */
export async function openServices(
  config: Config,
  log: Logger,
  name: string,
  poolSize: number
): Promise<Services> {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config
  if (!databaseUrl) throw new OperatorError('DATABASE_URL is not set: give the URL of a Postgres 14 or newer')
  if (!redisUrl) throw new OperatorError('REDIS_URL is not set: give the URL of a Redis or Valkey 7 or newer')
  const opened = openReleasers(log)
  try {
    const sql = openSql(databaseUrl, { max: poolSize, name })
    opened.defer('postgres', () => sql.end({ timeout: 1 }))
    await checkPostgres(sql)
    const redisPlace = await checkRedis(redisUrl)
    const redis = openRedis(redisPlace, name)
    opened.defer('redis', () => redis.disconnect())
    logOutages(redis, log)
    await connect(redis)
    await warnOfEviction(redis, log)
    const producer = openProducer(redisPlace, `${name}-jobs`)
    opened.defer('job connection', () => producer.disconnect())
    producer.on('error', () => {})
    await connect(producer)
    const advances = openAdvanceQueue(producer)
    opened.defer('job queue', () => advances.close())
    advances.on('error', () => {})
    const deliveries = openDeliverQueue(producer)
    opened.defer('delivery queue', () => deliveries.close())
    deliveries.on('error', () => {})
    await migrateDatabase(databaseUrl)
    const processes = await register(sql, { kind: name, readableSchemas, ownSchema }, log)
    opened.defer('registration', () => processes.stop())
    return {
      databaseUrl,
      redisPlace,
      sql,
      redis,
      advances,
      deliveries,
      processes,
      libraries: openLibraries(),
      publications: openCoalescer(),
      allStations: openCoalescer(),
      triggersFor,
      log,
      [Symbol.asyncDispose]: () => opened.release()
    }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/**
 * Waits for the first connection. That of a cluster which fails in the middle of it would never come to an
 * end.
 */
async function connect(redis: RedisClient): Promise<void> {
  await withDeadline(connectMs, 'connecting to Redis', () => redis.connect())
}

/**
 * One line when Redis, or a node of a cluster, goes away and one when it is back, however often it is tried.
 */
function logOutages(redis: RedisClient, log: Logger): void {
  const away = new Set<string>()
  const failed = (error: Error, node = '') => {
    if (!away.has(node)) log.error({ reason: String(error), ...(node && { node }) }, 'redis connection lost')
    away.add(node)
  }
  const recovered = (node = '') => {
    if (away.delete(node)) log.info(node === '' ? {} : { node }, 'redis connection restored')
  }
  redis.on('error', error => failed(error)).on('ready', () => recovered())
  if (!(redis instanceof Cluster)) return
  redis.on('node error', failed).on('+node', (node: Redis) => {
    node.on('ready', () => recovered(`${node.options.host}:${node.options.port}`))
  })
}

/** Warns of settings that lose jobs. A managed Redis may refuse to tell them. */
async function warnOfEviction(redis: RedisClient, log: Logger): Promise<void> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const answers = await Promise.all(
    servers.map(async server => server.config('GET', 'maxmemory-policy').catch(() => null))
  )
  const policies = answers.flatMap(answer => (Array.isArray(answer) ? [answer[1]] : []))
  const evicting = policies.find(policy => policy !== 'noeviction')
  if (evicting !== undefined)
    log.warn({ policy: evicting }, 'redis may evict jobs: set maxmemory-policy to noeviction')
}
