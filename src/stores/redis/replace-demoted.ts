import type { Cluster, Redis } from 'ioredis'

import { withJitter } from '../../platform/runtime/repeat.ts'
import { needsNewConnection } from '../../platform/runtime/store-errors.ts'

/*
 * A connection may lead to a node that answers and will never take writes again: one that a failover behind a name or
 * load balancer has demoted, or that a cluster has dropped. `needsNewConnection` tells by the error; here the
 * connection is replaced. Each error that Redis answers passes here, also inside pipelines and scripts; other answers
 * cost nothing.
 */

/** Pauses between two replacements of a connection: twice as long each time, with jitter. */
const firstPauseMs = 250
const maxPauseMs = 2_000
/** Without a refusal for this long, the next one is a new fault. */
const forgetMs = 10_000
/**
 * How long a node may take until it is ready after it has accepted a connection: the name may lead to another
 * meanwhile.
 */
const readyMs = 5_000
/** A cluster heals most refusals by itself: its nodes elect others, and the client reads the slots again. */
const clusterTimeoutMs = 4_000

/** Returns a function that tells whether a connection may be replaced now. */
export function openReplacementLimit(): () => boolean {
  let replacements = 0
  let nextAtMs = -Infinity
  let lastMs = -Infinity
  return () => {
    const nowMs = performance.now()
    if (nowMs < nextAtMs) return false
    if (nowMs - lastMs > forgetMs) replacements = 0
    lastMs = nowMs
    nextAtMs = nowMs + withJitter(Math.min(firstPauseMs * 2 ** replacements, maxPauseMs))
    replacements++
    return true
  }
}

/** Replaces a connection to one Redis while its node refuses commands. */
export function replaceWhenRefused(redis: Redis): void {
  const mayReplace = openReplacementLimit()
  redis.options.reconnectOnError = error => needsNewConnection(error) && mayReplace()
  let waiting: NodeJS.Timeout | undefined
  redis.on('connect', () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      if (redis.status === 'connect') redis.disconnect(true)
    }, readyMs).unref()
  })
}

/**
 * The same for the nodes of a cluster. A node whose connection ends is connected again when the client next reads the
 * slots. If slots stay closed, the whole client connects again, from the nodes of REDIS_URL.
 */
export function replaceNodesWhenRefused(cluster: Cluster): void {
  const mayReplace = openReplacementLimit()
  let closedSinceMs = Infinity
  let closedAtMs = -Infinity

  function noteClosedSlot(): void {
    const nowMs = performance.now()
    if (nowMs - closedAtMs > clusterTimeoutMs / 2) closedSinceMs = nowMs
    closedAtMs = nowMs
    if (nowMs - closedSinceMs < clusterTimeoutMs || cluster.status !== 'ready' || !mayReplace()) return
    closedSinceMs = Infinity
    cluster.disconnect(true)
  }

  cluster.on('+node', (node: Redis) => {
    const mayReplaceNode = openReplacementLimit()
    node.options.reconnectOnError = error => {
      if (!needsNewConnection(error)) return false
      if (!error.message.startsWith('CLUSTERDOWN ')) return mayReplaceNode()
      noteClosedSlot()
      return false
    }
  })
}
