import type { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'

import { Cluster, Redis, type Result } from 'ioredis'

import { programFile } from '../runtime/program-files.ts'
import { type RedisPlace } from './place.ts'

/** A connection to one Redis, or the connections to the nodes of a Redis Cluster. */
export type RedisClient = Redis | Cluster

const scripts = [
  ['commitStation', 5],
  ['forgetStation', 5],
  ['probeWrites', 1]
] as const

const commandTimeout = 5_000
/**
 * A connection on which nothing comes for so long after a command is replaced: its server has gone without a
 * word.
 */
const socketTimeout = 6_000
/** The same where a command waits in Redis for up to ten seconds. */
const blockingSocketTimeout = 12_000

/** Opens a connection for commands: one that fails after 5 seconds instead of waiting for ever. */
export function openRedis(place: RedisPlace, name: string): RedisClient {
  const redis = open(place, name, { commandTimeout, socketTimeout, maxRetriesPerRequest: 2 })
  if (redis instanceof Cluster) limitWaiting(redis, commandTimeout)
  probe(redis)
  for (const [command, numberOfKeys] of scripts) {
    const lua = readFileSync(programFile(`src/redis/lua/${command}-${numberOfKeys}.lua`), 'utf8')
    redis.defineCommand(command, { numberOfKeys, lua })
  }
  return redis
}

/**
 * Opens a connection that only listens; it subscribes again by itself after every reconnect. Who uses it has
 * to send a command every few seconds, so that a lost connection shows.
 */
export function openSubscriber(place: RedisPlace, name: string): RedisClient {
  return open(place, name, { socketTimeout, maxRetriesPerRequest: null, shardedSubscribers: true })
}

/** Opens a connection of a BullMQ worker, whose blocking reads wait for ten seconds at most. */
export function openBlocking(place: RedisPlace, name: string): RedisClient {
  return open(place, name, { socketTimeout: blockingSocketTimeout, maxRetriesPerRequest: null })
}

/**
 * Opens a connection for adding jobs: it fails at once while Redis is away, because the sweep repairs that.
 */
export function openProducer(place: RedisPlace, name: string): RedisClient {
  const redis = open(place, name, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout,
    socketTimeout
  })
  if (redis instanceof Cluster) limitWaiting(redis, commandTimeout)
  probe(redis)
  return redis
}

/** Sends something over each connection every few seconds: where no answer comes, it is replaced. */
function probe(redis: RedisClient): void {
  const timer = setInterval(() => {
    const servers = redis instanceof Cluster ? redis.nodes() : [redis]
    for (const server of servers) if (server.status === 'ready') server.ping().catch(() => {})
  }, probeMs)
  timer.unref()
  redis.on('end', () => clearInterval(timer))
}

/**
 * How often an idle connection is sent something, so that it shows whether it is lost before somebody needs
 * it.
 */
const probeMs = 3_000

interface Behaviour {
  readonly maxRetriesPerRequest: number | null
  readonly commandTimeout?: number
  readonly socketTimeout: number
  readonly enableOfflineQueue?: boolean
  readonly shardedSubscribers?: boolean
}

function open({ urls, isCluster }: RedisPlace, name: string, behaviour: Behaviour): RedisClient {
  const { enableOfflineQueue = true, shardedSubscribers = false, ...rest } = behaviour
  const common = { connectionName: `cuewire-${name}`, connectTimeout: 5_000, ...rest }
  if (!isCluster)
    return new Redis(urls[0], { ...common, enableOfflineQueue, retryStrategy, lazyConnect: true })
  const cluster = new Cluster(urls.map(addressOf), {
    redisOptions: { ...common, ...accessOf(urls[0]) },
    enableOfflineQueue,
    shardedSubscribers,
    clusterRetryStrategy: retryStrategy,
    lazyConnect: true,
    // A certificate is made out to a name: names stay names.
    dnsLookup: (host, done) => done(null, host)
  })
  return steadied(cluster)
}

/**
 * Corrects what ioredis does while nodes are away, also in copies: a BullMQ worker makes one for its blocking
 * reads.
 */
function steadied(cluster: Cluster): Cluster {
  const duplicate = cluster.duplicate.bind(cluster)
  cluster.duplicate = (...parts) => {
    const copy = steadied(duplicate(...parts))
    // Away and back is reported by the process's own connection.
    copy.on('error', () => {})
    return copy
  }
  paceRefreshes(cluster)
  settleConnects(cluster)
  return cluster
}

/** Quick at first, so that a restarted Redis is found within a second; jitter spreads many processes. */
const retryStrategy = (attempt: number) => Math.min(attempt * 50, 1_000) * (0.75 + Math.random() / 2)

function addressOf(url: string) {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) }
}

/** What all nodes of a cluster have in common. */
function accessOf(url: string) {
  const { protocol, username, password } = new URL(url)
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {})
  }
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** See `lua/commitStation-5.lua`. */
    commitStation(
      stationKey: string,
      positionsKey: string,
      changedKey: string,
      sequenceKey: string,
      channel: string,
      readPosition: string,
      leastOffset: number,
      epoch: string,
      revisionAndSchema: string,
      state: string,
      stationId: number,
      triggers: string
    ): Result<string | null, Context>
    /** See `lua/forgetStation-5.lua`. */
    forgetStation(
      stationKey: string,
      positionsKey: string,
      changedKey: string,
      sequenceKey: string,
      channel: string,
      stationId: number,
      message: string
    ): Result<null, Context>
    /** See `lua/probeWrites-1.lua`. */
    probeWrites(key: string): Result<number, Context>
  }
}

/**
 * Lets `connect` of a cluster client fail when the attempt does. ioredis 6 forgets its promise where nodes
 * answer and the cluster is not ready yet: it tries again by itself, and who waits for the first attempt
 * waits for ever (https://github.com/redis/ioredis/issues/709). A BullMQ worker does, and takes no more jobs.
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
 * Makes commands of a cluster client fail after `ms`, wherever they wait, and at once when the whole cluster
 * has been away for longer. ioredis 6 counts `commandTimeout` from when a command is given to a node only,
 * and keeps for ever what is asked of it while there is none.
 */
export function limitWaiting(cluster: EventEmitter & Pick<Cluster, 'sendCommand'>, ms: number): void {
  const send = cluster.sendCommand.bind(cluster)
  let awaySinceMs = Infinity
  cluster.on('close', () => {
    awaySinceMs = Math.min(awaySinceMs, performance.now())
  })
  cluster.on('ready', () => {
    awaySinceMs = Infinity
  })
  cluster.sendCommand = (command, ...rest) => {
    command.setTimeout(ms)
    // With CLUSTER the client itself asks whether the cluster is back.
    if (command.name === 'cluster' || performance.now() - awaySinceMs <= ms) return send(command, ...rest)
    command.reject(new Error('Connection is closed.'))
    return command.promise
  }
}

const paceMs = 250

type Done = Parameters<Cluster['refreshSlotsCache']>[0]

/**
 * Lets a cluster client ask which node serves what at most four times a second. ioredis 6 asks again as soon
 * as a sharded subscription fails to connect, and connects again on the answer: while one node is down that
 * takes a whole core.
 */
export function paceRefreshes(cluster: Pick<Cluster, 'refreshSlotsCache' | 'status'>): void {
  const refresh = cluster.refreshSlotsCache.bind(cluster)
  let waiting: Done[] | null = null
  let nextAtMs = 0

  function refreshNow(): void {
    const told = waiting ?? []
    waiting = null
    nextAtMs = performance.now() + paceMs
    if (cluster.status === 'end') return
    refresh((error, result) => {
      for (const done of told) done?.(error, result)
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
