import type { Cluster } from 'ioredis'

const paceMs = 250

type Done = Parameters<Cluster['refreshSlotsCache']>[0]

/**
 * Lets a cluster client ask which node serves what at most four times a second. ioredis 6 asks again as soon as a
 * sharded subscription fails to connect, and connects again on the answer: while one node is down that takes a whole core.
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
