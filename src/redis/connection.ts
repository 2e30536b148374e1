import { readFileSync } from 'node:fs'

import { Redis, type RedisOptions, type Result } from 'ioredis'

/** Opens a connection for commands: one that fails after 5 seconds instead of waiting for ever. */
export function openRedis(url: string, name: string): Redis {
  const redis = new Redis(url, { ...common(name), commandTimeout: 5_000, maxRetriesPerRequest: 2 })
  for (const command of ['commitStation', 'forgetStation']) {
    const lua = readFileSync(new URL(`./lua/${command}-2.lua`, import.meta.url), 'utf8')
    redis.defineCommand(command, { numberOfKeys: 2, lua })
  }
  return redis
}

/** Opens a connection that only listens; it subscribes again by itself after every reconnect. */
export function openSubscriber(url: string, name: string): Redis {
  return new Redis(url, { ...common(name), maxRetriesPerRequest: null })
}

/** Opens a connection of a BullMQ worker, whose blocking reads wait as long as they like. */
export function openBlocking(url: string, name: string): Redis {
  return new Redis(url, { ...common(name), maxRetriesPerRequest: null })
}

/** Opens a connection for adding jobs: it fails at once while Redis is away, because the sweep repairs that. */
export function openProducer(url: string, name: string): Redis {
  return new Redis(url, { ...common(name), maxRetriesPerRequest: 1, enableOfflineQueue: false })
}

function common(name: string) {
  return {
    connectionName: `cuewire-${name}`,
    connectTimeout: 5_000,
    lazyConnect: true,
    // Quick at first, so that a restarted Redis is found within a second; jitter spreads many processes.
    retryStrategy: (attempt: number) => Math.min(attempt * 50, 1_000) * (0.75 + Math.random() / 2)
  } satisfies RedisOptions
}

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** See `lua/commitStation-2.lua`. */
    commitStation(
      stationKey: string,
      positionsKey: string,
      readPosition: string,
      newPosition: string,
      schema: string,
      state: string,
      stationId: number,
      channel: string,
      message: string
    ): Result<number, Context>
    /** See `lua/forgetStation-2.lua`. */
    forgetStation(
      stationKey: string,
      positionsKey: string,
      stationId: number,
      channel: string,
      message: string
    ): Result<null, Context>
  }
}
