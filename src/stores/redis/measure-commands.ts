import type { Cluster } from 'ioredis'

import {
  commandDurationMetric,
  commandErrorsMetric,
  isConnectedMetric
} from '../../platform/metrics/redis.ts'

/** Of a single Redis or a cluster. */
type MeasuredClient = Pick<Cluster, 'sendCommand'> & { readonly status: string }

/** Measures the commands of a connection, and whether it is open. */
export function measureRedisCommands(redis: MeasuredClient): void {
  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, ...rest) => {
    // The library names its connections, which old versions of Redis refuse in part.
    if (command.name === 'client') return send(command, ...rest)
    const sentAtMs = performance.now()
    const name = command.name.toLowerCase()
    const finish = () =>
      commandDurationMetric.observe({ command: name }, (performance.now() - sentAtMs) / 1_000)
    command.promise.then(finish, () => {
      finish()
      commandErrorsMetric.inc({ command: name })
    })
    return send(command, ...rest)
  }
  isConnectedMetric.read = () => (redis.status === 'ready' ? 1 : 0)
}
