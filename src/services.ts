import { Cluster, type Redis } from 'ioredis'

import { type Config, pickRegisteredSettings } from './config.ts'
import { openIdentityCache } from './engine/listeners/identity-cache.ts'
import { openLibraryCache } from './engine/queue/library-cache.ts'
import { publishStation } from './engine/repair-states.ts'
import type { EngineServices } from './engine/services.ts'
import { startStationAlerts } from './engine/station-alerts.ts'
import type { StationState } from './model/station/state.ts'
import { openStationFaults } from './platform/isolation/station-faults.ts'
import { addPoolMetrics } from './platform/metrics/postgres.ts'
import { openReleasers } from './platform/process/service.ts'
import { openCoalescer } from './platform/runtime/coalesce.ts'
import { withDeadline } from './platform/runtime/deadline.ts'
import type { Logger } from './platform/runtime/log.ts'
import { OperatorError } from './platform/runtime/operator-error.ts'
import type { Outages } from './platform/runtime/outages.ts'
import { openSlowLog } from './platform/runtime/slow-log.ts'
import { describeError } from './platform/runtime/store-errors.ts'
import { assertPostgresUsable } from './stores/db/connections/check-postgres.ts'
import {
  aliveSeconds,
  findConnectionShortage,
  findPoolerShortage,
  poolSizes
} from './stores/db/connections/connection-budget.ts'
import { openQueryObserver } from './stores/db/connections/query-observer.ts'
import { migrateDatabase } from './stores/db/migrate.ts'
import { registerProcess } from './stores/db/processes.ts'
import { openSql, type Sql } from './stores/db/sql.ts'
import { enqueueDeliveries, openDeliverQueue } from './stores/jobs/queues.ts'
import { openScheduledPlays } from './stores/jobs/scheduled-plays.ts'
import { resolveRedisPlace } from './stores/redis/check-redis.ts'
import { openJobRedis, openRedis, type RedisClient } from './stores/redis/connection.ts'
import { measureRedisCommands } from './stores/redis/measure-commands.ts'
import { probeWrites } from './stores/redis/shard-commands.ts'
import { ownStateSchema, readableStateSchemas } from './stores/redis/state-schema.ts'
import { watchWriteHealth } from './stores/redis/write-health.ts'
import { openOutbox } from './webhooks/outbox.ts'
import { filterHookTriggers } from './webhooks/types/hook-types.ts'

const connectMs = 10_000

/**
 * Opens Postgres, Redis and the job queues of a process, checks that both stores answer, migrates the schema
 * and registers the process. Disposing closes them in reverse. Throws an `OperatorError` with the reason.
 */
export async function openServices(
  config: Config,
  { log, outages }: { readonly log: Logger; readonly outages: Outages },
  name: keyof typeof poolSizes
) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = config
  if (!databaseUrl) throw new OperatorError('DATABASE_URL is not set: set the URL of a Postgres 14 or newer')
  if (!redisUrl) throw new OperatorError('REDIS_URL is not set: set the URL of a Redis or Valkey 7 or newer')
  const opened = openReleasers(log)
  const slowLog = openSlowLog(log, config.SLOW_LOG_MS)
  const isMeasured = config.METRICS_PORT !== undefined
  const isObserved = isMeasured || config.SLOW_LOG_MS > 0
  const onQuery = isObserved ? openQueryObserver(slowLog, isMeasured) : undefined
  try {
    const sql = openSql(databaseUrl, { max: poolSizes[name].main, name, onQuery })
    opened.defer('postgres', () => sql.end({ timeout: 1 }))
    addPoolMetrics(name, () => sql.use())
    await assertPostgresUsable(databaseUrl)
    // While this process has no other connection.
    const poolerShortage = await findPoolerShortage(databaseUrl, name)
    if (poolerShortage !== null)
      log.warn({ reason: poolerShortage }, 'the pooler has too few connections; raise its default_pool_size')
    const redisPlace = await resolveRedisPlace(redisUrl)
    const redis = openRedis(redisPlace, name)
    opened.defer('redis', () => redis.disconnect())
    redis.on('error', error => outages.begin('redis', error))
    if (redis instanceof Cluster) logNodeOutages(redis, log)
    if (isMeasured) measureRedisCommands(redis)
    await connect(redis)
    const writes = watchWriteHealth(redis, { log, outages })
    opened.defer('checks of redis', () => writes.stop())
    opened.defer(
      'probe of postgres',
      outages.watch('postgres', () => sql`select 1`)
    )
    opened.defer(
      'probe of redis',
      outages.watch('redis', () => probeWrites(redis))
    )
    await warnOfEviction(redis, log)
    const producer = openJobRedis(redisPlace, `${name}-jobs`)
    opened.defer('job connection', () => producer.disconnect())
    producer.on('error', () => {})
    await connect(producer)
    const deliveries = openDeliverQueue(producer)
    opened.defer('job queue', () => deliveries.close())
    deliveries.on('error', () => {})
    await migrateDatabase(databaseUrl)
    const processes = await registerProcess(
      sql,
      {
        kind: name,
        readableSchemas: readableStateSchemas,
        ownSchema: ownStateSchema,
        settings: pickRegisteredSettings(config)
      },
      log
    )
    opened.defer('registration', () => processes.stop())
    opened.defer('check of connections', warnOfConnectionShortage(sql, log))
    const stationFaults = openStationFaults(log)
    // A Redis that refuses writes explains what fails for single stations.
    const lasting = () => (writes.isRefusing() ? [] : stationFaults.lasting())
    const alerts = startStationAlerts(sql, { lasting }, log)
    opened.defer('station alerts', () => alerts.stop())
    const publications = openCoalescer<number, StationState | null>()
    const services: EngineServices = {
      sql,
      redis,
      scheduledPlays: openScheduledPlays(redis),
      deliveries,
      dispatchDeliveries: webhookIds => enqueueDeliveries(deliveries, webhookIds, log),
      processes,
      libraries: openLibraryCache(),
      identities: openIdentityCache(),
      publishNewest: stationId => publications.run(stationId, () => publishStation(services, stationId)),
      allStations: openCoalescer(),
      outbox: openOutbox(filterHookTriggers),
      stationFaults,
      log
    }
    return {
      ...services,
      databaseUrl,
      markReady: processes.markReady,
      redisPlace,
      writes,
      slowLog,
      onQuery,
      [Symbol.asyncDispose]: () => opened.release()
    }
  } catch (error) {
    await opened.release()
    throw error
  }
}

/**
 * Warns if Postgres has too few connections for all processes. Checks a second time, because a process that was killed
 * just before still counts for a while. Returns the function that stops it.
 */
function warnOfConnectionShortage(sql: Sql, log: Logger): () => void {
  const find = () => findConnectionShortage(sql).catch(() => null)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  const recheck = async () => {
    const shortage = await find()
    if (shortage !== null && !isStopped)
      log.warn({ reason: shortage }, 'postgres has too few connections; raise its limit')
  }
  void find().then(shortage => {
    if (shortage !== null && !isStopped) timer = setTimeout(() => void recheck(), aliveSeconds * 1_000)
  })
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

/** With a deadline, because connecting to a cluster that fails meanwhile never settles. */
async function connect(redis: RedisClient): Promise<void> {
  await withDeadline(connectMs, 'connecting to Redis', () => redis.connect())
}

/** Logs once when a node of a cluster is unreachable, and once when it is back. */
function logNodeOutages(cluster: Cluster, log: Logger): void {
  const unreachable = new Set<string>()
  cluster
    .on('node error', (error: Error, node: string) => {
      if (!unreachable.has(node))
        log.error({ reason: describeError(error), node }, 'connection to a node of redis lost')
      unreachable.add(node)
    })
    .on('+node', (connection: Redis) => {
      const node = `${connection.options.host}:${connection.options.port}`
      connection.on('ready', () => {
        if (unreachable.delete(node)) log.info({ node }, 'connection to a node of redis restored')
      })
    })
}

/** Warns if Redis may evict jobs. A managed Redis may refuse to return the setting. */
async function warnOfEviction(redis: RedisClient, log: Logger): Promise<void> {
  const servers = redis instanceof Cluster ? redis.nodes('master') : [redis]
  const responses = await Promise.all(
    servers.map(async server => server.config('GET', 'maxmemory-policy').catch(() => null))
  )
  const policies = responses.flatMap(response => (Array.isArray(response) ? [response[1]] : []))
  const policy = policies.find(each => each !== 'noeviction')
  if (policy !== undefined) log.warn({ policy }, 'redis may evict jobs: set maxmemory-policy to noeviction')
}
