import type { Cluster } from 'ioredis'

/**
 * Lets `connect` of a cluster client fail when the attempt does. ioredis 6 forgets its promise where nodes answer and the
 * cluster is not ready yet: it tries again by itself, and who waits for the first attempt waits for ever
 * (https://github.com/redis/ioredis/issues/709). A BullMQ worker does, and takes no more jobs.
 */
export function settleConnects(cluster: Pick<Cluster, 'connect' | 'once' | 'off'>): void {
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
