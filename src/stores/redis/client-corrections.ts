import type { EventEmitter } from 'node:events'

import { Cluster, type Redis } from 'ioredis'

import { replaceWhenRefused, replaceNodesWhenRefused } from './replace-demoted.ts'

/*
 * What ioredis 6.0.0 does otherwise than Cuewire needs. All clients are corrected here, once, when they are opened;
 * each correction says which fault it mends, and has a test in `test/integration/cluster.test.ts` or
 * `coalesced-writes.test.ts`.
 */

/** Corrects a client, and the duplicates that BullMQ workers make of it. `commandTimeout`: of a client for commands. */
export function correctRedisClient(client: Redis | Cluster, commandTimeout?: number): void {
  if (client instanceof Cluster) {
    client.on('+node', coalesceWrites)
    replaceNodesWhenRefused(client)
    limitSlotRefreshes(client)
    settleConnects(client)
    if (commandTimeout !== undefined) limitCommandTime(client, commandTimeout)
    const duplicate = client.duplicate.bind(client)
    client.duplicate = (...parts) => correctDuplicate(duplicate(...parts))
  } else {
    coalesceWrites(client)
    replaceWhenRefused(client)
    const duplicate = client.duplicate.bind(client)
    client.duplicate = (...parts) => correctDuplicate(duplicate(...parts))
  }
}

function correctDuplicate<Client extends Redis | Cluster>(copy: Client): Client {
  correctRedisClient(copy)
  // Outages are logged by the process's own connection.
  copy.on('error', () => {})
  return copy
}

/**
 * Makes a connection write all commands of one tick of the event loop with one system call. By itself ioredis
 * writes each command separately, which costs as much CPU as all its other work.
 */
function coalesceWrites(redis: Redis): void {
  const send = redis.sendCommand.bind(redis)
  let corked: Redis['stream'] | null = null
  const uncork = () => {
    corked?.uncork()
    corked = null
  }
  redis.sendCommand = (...parts) => {
    // Undefined until the first connect.
    const stream: Redis['stream'] | undefined = redis.stream
    if (stream && corked === null) {
      corked = stream
      stream.cork()
      process.nextTick(uncork)
    }
    return send(...parts)
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
