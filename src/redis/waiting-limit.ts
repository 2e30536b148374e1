import type { EventEmitter } from 'node:events'

import type { Cluster } from 'ioredis'

/**
 * Makes commands of a cluster client fail after `ms`, wherever they wait, and at once when the whole cluster has been away
 * for longer. ioredis 6 counts `commandTimeout` from when a command is given to a node only, and keeps for ever what is
 * asked of it while there is none.
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
