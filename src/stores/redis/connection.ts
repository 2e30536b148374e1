import { readFileSync } from 'node:fs'

import { Cluster, type ClusterOptions, Redis, type RedisOptions, type Result } from 'ioredis'

import { projectFileUrl } from '../../platform/process/program-files.ts'
import { correctRedisClient } from './client-corrections.ts'
import { probeKey } from './keys.ts'
import type { RedisPlace } from './redis-place.ts'
import { redisAccessOptions, redisConnectionOptions, parseRedisUrl } from './redis-url.ts'

/** A connection to one Redis, or the connections to the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster

/** Scripts about a station. They share `counting.lua` and the keys of `ScriptKeys`. */
const stationScripts = ['commitStation', 'countListeners', 'forgetStation', 'acknowledgeFlush'] as const
const stationKeys = 10

const connectTimeout = 5_000
const commandTimeout = 5_000
/** A Sentinel that does not answer within this time is skipped. */
const sentinelCommandTimeout = 2_000
/** Interval of checks whether a Redis that starts has loaded its data. */
const maxLoadingRetryTime = 1_000
/** A connection without any data for this long after a command is replaced. */
const socketTimeout = 6_000
/** The same for commands that block for up to ten seconds. */
const blockingSocketTimeout = 12_000

const readScript = (name: string) => readFileSync(projectFileUrl(`src/stores/redis/lua/${name}.lua`), 'utf8')

/** A script with one key, see its comment. */
export const probeWritesScript = readScript('probeWrites-1')

/** Opens a connection for commands, which fail after 5 seconds. */
export function openRedis(place: RedisPlace, connectionName: string): RedisClient {
  const redis = openForCommands(place, connectionName, { maxRetriesPerRequest: 2 })
  const shared = readScript('counting')
  for (const name of stationScripts)
    redis.defineCommand(name, {
      numberOfKeys: stationKeys,
      lua: shared + readScript(`${name}-${stationKeys}`)
    })
  for (const name of ['takeDuePlays', 'takeToken'])
    redis.defineCommand(name, { numberOfKeys: 1, lua: readScript(`${name}-1`) })
  return redis
}

/**
 * Opens a connection for subscriptions, which are renewed after reconnects. On a cluster the caller must send a command
 * every few seconds, so that a lost connection is noticed.
 */
export function openRedisSubscriber(place: RedisPlace, name: string): RedisClient {
  return open(place, `cuewire-${name}`, {
    socketTimeout,
    maxRetriesPerRequest: null,
    shardedSubscribers: true
  })
}

/** Servers of 0.2.0 count the processes that end songs by this name, that of a worker of BullMQ. */
const advanceWorkerName = `bull:${Buffer.from('{cuewire}advance').toString('base64')}`

/** Opens the connection of a BullMQ worker, whose reads block for up to ten seconds. */
export function openBlockingRedis(place: RedisPlace): RedisClient {
  return open(place, advanceWorkerName, { socketTimeout: blockingSocketTimeout, maxRetriesPerRequest: null })
}

/** Opens a connection for adding jobs: fails at once while Redis is unavailable; the sweep repairs that. */
export function openJobRedis(place: RedisPlace, name: string): RedisClient {
  return openForCommands(place, name, { maxRetriesPerRequest: 1, enableOfflineQueue: false })
}

function openForCommands(place: RedisPlace, name: string, options: ConnectionOptions): RedisClient {
  return open(place, `cuewire-${name}`, { commandTimeout, socketTimeout, ...options })
}

/**
 * Sends a command over each connection every few seconds. One that does not answer, or leads to a node that refuses
 * writes and will not take them again, is replaced. A replica of a cluster is known as one.
 */
function probe(redis: RedisClient): void {
  redis.defineCommand('probeWrites', { numberOfKeys: 1, lua: probeWritesScript })
  const timer = setInterval(() => {
    if (redis instanceof Cluster) {
      for (const node of redis.nodes()) if (node.status === 'ready') node.ping().catch(() => {})
    } else if (redis.status === 'ready') redis.probeWrites(probeKey(0)).catch(() => {})
  }, probeMs)
  timer.unref()
  redis.on('end', () => clearInterval(timer))
}

/** Interval of commands on an idle connection, so that a lost one is noticed before it is needed. */
const probeMs = 3_000

type ConnectionOptions = Pick<RedisOptions, 'maxRetriesPerRequest' | 'commandTimeout' | 'socketTimeout'> &
  Pick<ClusterOptions, 'enableOfflineQueue' | 'shardedSubscribers'>

function open(place: RedisPlace, connectionName: string, options: ConnectionOptions): RedisClient {
  const client = create(place, connectionName, options)
  correctRedisClient(client, options.commandTimeout)
  probe(client)
  return client
}

function create(
  { urls, isCluster }: RedisPlace,
  connectionName: string,
  options: ConnectionOptions
): RedisClient {
  const { enableOfflineQueue = true, shardedSubscribers = false, ...rest } = options
  const url = parseRedisUrl(urls[0])
  const common = { connectionName, connectTimeout, maxLoadingRetryTime, ...rest }
  if (!isCluster)
    return new Redis({
      ...redisConnectionOptions(url),
      ...common,
      sentinelCommandTimeout,
      sentinelRetryStrategy: retryStrategy,
      enableOfflineQueue,
      retryStrategy,
      lazyConnect: true
    })
  return new Cluster(
    urls.map(each => parseRedisUrl(each).hosts[0]),
    {
      redisOptions: { ...common, ...redisAccessOptions(url) },
      enableOfflineQueue,
      shardedSubscribers,
      clusterRetryStrategy: retryStrategy,
      lazyConnect: true,
      // Certificates are issued for names, so names are not resolved.
      dnsLookup: (host, done) => done(null, host)
    }
  )
}

/** Short at first, so that a restarted Redis is found within a second; with jitter. */
const retryStrategy = (attempt: number) => Math.min(attempt * 50, 1_000) * (0.75 + Math.random() / 2)

export type ScriptKeys = [
  station: string,
  positions: string,
  changed: string,
  sequence: string,
  channel: string,
  identities: string,
  unflushed: string,
  counting: string,
  openSessions: string,
  endedSessions: string
]

/** The scripts in `lua`. */
declare module 'ioredis' {
  interface RedisCommander<Context> {
    commitStation(
      ...keysAndArguments: [
        ...ScriptKeys,
        readPosition: string,
        leastOffset: number,
        epoch: string,
        revisionAndSchema: string,
        state: string,
        stationId: number,
        triggers: string,
        counts: string,
        nowMs: number
      ]
    ): Result<[offset: string, counts: string] | null, Context>
    countListeners(
      ...keysAndArguments: [...ScriptKeys, stationId: number, report: string, nowMs: number]
    ): Result<[status: string, detail: string], Context>
    acknowledgeFlush(
      ...keysAndArguments: [...ScriptKeys, stationId: number, offset: number, ...fieldsAndValues: string[]]
    ): Result<null, Context>
    forgetStation(
      ...keysAndArguments: [...ScriptKeys, stationId: number, message: string]
    ): Result<null, Context>
    probeWrites(key: string): Result<number, Context>
    takeDuePlays(key: string, untilMs: number, atMost: number): Result<string[], Context>
    takeToken(key: string, intervalMs: number, burst: number, takes: 0 | 1): Result<number, Context>
  }
}
