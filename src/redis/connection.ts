import type { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'

import { Cluster, type ClusterOptions, Redis, type RedisOptions, type Result } from 'ioredis'

import { projectFile } from '../runtime/program-files.ts'
import { coalesceWrites } from './coalesce-writes.ts'
import { type RedisPlace } from './place.ts'

/** A connection to one Redis, or the connections to the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster

/** Scripts about a station. They share `counting.lua` and the keys of `ScriptKeys`. */
const stationScripts = ['commitStation', 'countListeners', 'forgetStation', 'acknowledgeFlush'] as const
const stationKeys = 10

const commandTimeout = 5_000
/** A connection without any data for this long after a command is replaced. */
const socketTimeout = 6_000
/** The same for commands that block for up to ten seconds. */
const blockingSocketTimeout = 12_000

const readScript = (name: string) => readFileSync(projectFile(`src/redis/lua/${name}.lua`), 'utf8')

/** Opens a connection for commands, which fail after 5 seconds. */
export function openRedis(place: RedisPlace, connectionName: string): RedisClient {
  const redis = openForCommands(place, connectionName, { maxRetriesPerRequest: 2 })
  const shared = readScript('counting')
  for (const name of stationScripts)
    redis.defineCommand(name, {
      numberOfKeys: stationKeys,
      lua: shared + readScript(`${name}-${stationKeys}`)
    })
  for (const name of ['probeWrites', 'takeDuePlays', 'takeToken'])
    redis.defineCommand(name, { numberOfKeys: 1, lua: readScript(`${name}-1`) })
  return redis
}

/**
 * Opens a connection for subscriptions, which are renewed after reconnects. The caller must send a command
 * every few seconds, so that a lost connection is noticed.
 */
export function openSubscriber(place: RedisPlace, name: string): RedisClient {
  return open(place, name, { socketTimeout, maxRetriesPerRequest: null, shardedSubscribers: true })
}

/** Opens a connection of a BullMQ worker, whose reads block for up to ten seconds. */
export function openBlocking(place: RedisPlace, name: string): RedisClient {
  return open(place, name, { socketTimeout: blockingSocketTimeout, maxRetriesPerRequest: null })
}

/** Opens a connection for adding jobs: fails at once while Redis is unavailable; the sweep repairs that. */
export function openJobConnection(place: RedisPlace, name: string): RedisClient {
  return openForCommands(place, name, { maxRetriesPerRequest: 1, enableOfflineQueue: false })
}

function openForCommands(place: RedisPlace, name: string, options: ConnectionOptions): RedisClient {
  const redis = open(place, name, { commandTimeout, socketTimeout, ...options })
  if (redis instanceof Cluster) limitCommandTime(redis, commandTimeout)
  probe(redis)
  return redis
}

/** Sends a command over each connection every few seconds; one that does not answer is replaced. */
function probe(redis: RedisClient): void {
  const timer = setInterval(() => {
    const servers = redis instanceof Cluster ? redis.nodes() : [redis]
    for (const server of servers) if (server.status === 'ready') server.ping().catch(() => {})
  }, probeMs)
  timer.unref()
  redis.on('end', () => clearInterval(timer))
}

/** Interval of commands on an idle connection, so that a lost one is noticed before it is needed. */
const probeMs = 3_000

type ConnectionOptions = Pick<RedisOptions, 'maxRetriesPerRequest' | 'commandTimeout' | 'socketTimeout'> &
  Pick<ClusterOptions, 'enableOfflineQueue' | 'shardedSubscribers'>

function open({ urls, isCluster }: RedisPlace, name: string, options: ConnectionOptions): RedisClient {
  const { enableOfflineQueue = true, shardedSubscribers = false, ...rest } = options
  const common = { connectionName: `cuewire-${name}`, connectTimeout: 5_000, ...rest }
  if (!isCluster) {
    const redis = new Redis(urls[0], { ...common, enableOfflineQueue, retryStrategy, lazyConnect: true })
    coalesceWrites(redis)
    return redis
  }
  const cluster = new Cluster(urls.map(addressOf), {
    redisOptions: { ...common, ...accessOf(urls[0]) },
    enableOfflineQueue,
    shardedSubscribers,
    clusterRetryStrategy: retryStrategy,
    lazyConnect: true,
    // Certificates are issued for names, so names are not resolved.
    dnsLookup: (host, done) => done(null, host)
  })
  return correctCluster(cluster)
}

/** Corrects ioredis for times when nodes are unavailable, also in the duplicates that BullMQ workers make. */
function correctCluster(cluster: Cluster): Cluster {
  cluster.on('+node', coalesceWrites)
  const duplicate = cluster.duplicate.bind(cluster)
  cluster.duplicate = (...parts) => {
    const copy = correctCluster(duplicate(...parts))
    // Outages are logged by the process's own connection.
    copy.on('error', () => {})
    return copy
  }
  limitSlotRefreshes(cluster)
  settleConnects(cluster)
  return cluster
}

/** Short at first, so that a restarted Redis is found within a second; with jitter. */
const retryStrategy = (attempt: number) => Math.min(attempt * 50, 1_000) * (0.75 + Math.random() / 2)

function addressOf(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) }
}

/** Options of all nodes of a cluster. */
function accessOf(url: string) {
  const { protocol, username, password } = new URL(url)
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {})
  }
}

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

/**
 * Makes `connect` of a cluster client fail when the attempt fails. ioredis 6 loses the promise if nodes
 * answer while the cluster is not ready (https://github.com/redis/ioredis/issues/709), and a BullMQ worker
 * then waits forever.
 */
function settleConnects(cluster: Pick<Cluster, 'connect' | 'once' | 'off'>): void {
  const connect = cluster.connect.bind(cluster)
  cluster.connect = async () => {
    let closed: (() => void) | undefined
    const failed = new Promise<never>((_, reject) => {
      closed = () => reject(new Error('Connection is closed.'))
      cluster.once('close', closed)
    })
    try {
      await Promise.race([connect(), failed])
    } finally {
      if (closed) cluster.off('close', closed)
    }
  }
}

/**
 * Makes commands of a cluster client fail after `ms`, and at once if the whole cluster has been unavailable
 * for longer. The `commandTimeout` of ioredis 6 starts only when a node gets the command.
 */
export function limitCommandTime(cluster: EventEmitter & Pick<Cluster, 'sendCommand'>, ms: number): void {
  const send = cluster.sendCommand.bind(cluster)
  let awaySinceMs = Infinity
  cluster.on('close', () => (awaySinceMs = Math.min(awaySinceMs, performance.now())))
  cluster.on('ready', () => (awaySinceMs = Infinity))
  cluster.sendCommand = (command, ...rest) => {
    command.setTimeout(ms)
    // The client itself uses CLUSTER to check whether the cluster is available.
    if (command.name === 'cluster' || performance.now() - awaySinceMs <= ms) return send(command, ...rest)
    command.reject(new Error('Connection is closed.'))
    return command.promise
  }
}

/** Minimum interval of cluster slot refreshes. */
const refreshIntervalMs = 250

/**
 * Limits cluster slot refreshes to four per second. ioredis 6 refreshes whenever a sharded subscription fails
 * to connect, and connects again after it: one node that is down costs a whole core.
 */
export function limitSlotRefreshes(cluster: Pick<Cluster, 'refreshSlotsCache' | 'status'>): void {
  const refresh = cluster.refreshSlotsCache.bind(cluster)
  let waiting: Parameters<typeof refresh>[0][] | null = null
  let nextAtMs = 0

  function refreshNow(): void {
    const callbacks = waiting ?? []
    waiting = null
    nextAtMs = performance.now() + refreshIntervalMs
    if (cluster.status === 'end') return
    refresh((error, result) => {
      for (const done of callbacks) done?.(error, result)
    })
  }

  cluster.refreshSlotsCache = done => {
    if (waiting !== null) {
      waiting.push(done)
      return
    }
    waiting = [done]
    const waitMs = nextAtMs - performance.now()
    if (waitMs <= 0) refreshNow()
    else setTimeout(refreshNow, waitMs).unref()
  }
}
