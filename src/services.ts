import type { Config } from './config.ts'
import { openSql } from './db/sql.ts'
import { OperatorError } from './errors.ts'
import { openAdvanceQueue } from './jobs.ts'
import type { Logger } from './log.ts'
import type { PlayoutServices } from './playout/services.ts'
import { openProducer, openRedis } from './redis/connection.ts'
import { openReleasers } from './shutdown.ts'

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
    opened.defer('postgres', () => sql.end({ timeout: 3 }))
    await sql`select 1`.catch((error: unknown) => {
      throw new OperatorError(`Postgres does not answer at DATABASE_URL: ${reasonOf(error)}`)
    })
    const redis = openRedis(redisUrl, name)
    opened.defer('redis', () => redis.disconnect())
    const outage = outageLog(log)
    redis.on('error', outage.failed).on('ready', outage.recovered)
    await redis.ping().catch((error: unknown) => {
      throw new OperatorError(`Redis does not answer at REDIS_URL: ${reasonOf(error)}`)
    })
    await checkRedis(redis, log)
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
      if (!isAway) log.error({ err: error }, 'redis is away')
      isAway = true
    },
    recovered: () => {
      if (isAway) log.info('redis is back')
      isAway = false
    }
  }
}

/** Warns of settings that lose jobs. A managed Redis may refuse to tell them. */
async function checkRedis(redis: { config: (get: 'GET', name: string) => Promise<unknown> }, log: Logger) {
  const answer = await redis.config('GET', 'maxmemory-policy').catch(() => null)
  if (Array.isArray(answer) && answer[1] !== 'noeviction') {
    log.warn({ policy: answer[1] }, 'redis may evict jobs: set maxmemory-policy to noeviction')
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || ('code' in error ? String(error.code) : error.name)
}
