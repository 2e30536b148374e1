import type { EventEmitter } from 'node:events'

import type { Cluster } from 'ioredis'

import { coalesceWrites } from './coalesce-writes.ts'
import { replaceRefusedNodes } from './refused-connections.ts'

/** Corrects ioredis for times when nodes are unavailable, also in the duplicates that BullMQ workers make. */
export function correctCluster(cluster: Cluster): Cluster {
  cluster.on('+node', coalesceWrites)
  replaceRefusedNodes(cluster)
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
