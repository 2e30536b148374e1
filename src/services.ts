import type { Redis } from 'ioredis'

import type { Config } from './config.ts'
import { openSql } from './db/sql.ts'
import { OperatorError } from './errors.ts'
import { openAdvanceQueue } from './jobs.ts'
import type { Logger } from './log.ts'
import type { PlayoutServices } from './playout/services.ts'
import { openProducer, openRedis } from './redis/connection.ts'
import { openReleasers } from './shutdown.ts'
import { checkPostgres, checkRedis } from './store-checks.ts'

/** Everything a process works with, opened; disposing closes it in reverse. */
export interface Services extends PlayoutServices, AsyncDisposable {
  readonly databaseUrl: string
  readonly redisUrl: string
}

/**
 * Opens Postgres, Redis and the job queue of a process and makes sure that both stores answer. Throws an
 * `OperatorError` that says which one does not.
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
    await checkRedis(redisUrl)
    const redis = openRedis(redisUrl, name)
    opened.defer('redis', () => redis.disconnect())
    const outage = outageLog(log)
    redis.on('error', outage.failed).on('ready', outage.recovered)
    await redis.connect()
    await warnOfEviction(redis, log)
    const producer = openProducer(redisUrl, `${name}-jobs`)
    opened.defer('job connection', () => producer.disconnect())
    producer.on('error', () => {})
    await producer.connect()
    const advances = openAdvanceQueue(producer)
    opened.defer('job queue', () => advances.close())
    advances.on('error', () => {})
    return { databaseUrl, redisUrl, sql, redis, advances, log, [Symbol.asyncDispose]: () => opened.release() }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/** One line when Redis goes away and one when it is back, however often the client tries in between. */
function outageLog(log: Logger) {
  let isAway = false
  return {
    failed: (error: Error) => {
      if (!isAway) log.error({ reason: String(error) }, 'redis is away')
      isAway = true
    },
    recovered: () => {
      if (isAway) log.info('redis is back')
      isAway = false
    }
  }
}

/** Warns of settings that lose jobs. A managed Redis may refuse to tell them. */
async function warnOfEviction(redis: Redis, log: Logger): Promise<void> {
  const answer = await redis.config('GET', 'maxmemory-policy').catch(() => null)
  if (Array.isArray(answer) && answer[1] !== 'noeviction') {
    log.warn({ policy: answer[1] }, 'redis may evict jobs: set maxmemory-policy to noeviction')
  }
}
