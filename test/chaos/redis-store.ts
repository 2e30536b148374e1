import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { Redis } from 'ioredis'

import { startRedis } from '../../src/embedded/redis.ts'
import { copyFolder } from '../support/temp-folder.ts'

/** A Redis that can be killed, paused, emptied and set back to an old dump. */
export interface RedisStore extends AsyncDisposable {
  readonly url: string
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>
  /** Starts it unless it runs; resolves when it answers. */
  readonly start: () => Promise<void>
  readonly hasExited: () => boolean
  readonly pause: () => () => void
  readonly flush: () => Promise<void>
  /** Copies what it holds, and returns how a Redis that does not run gets it back. */
  readonly dump: () => Promise<() => Promise<void>>
}

const data = 'appendonlydir'

/** Starts a Redis whose data is in a folder. */
export async function openRedisStore(folder: string): Promise<RedisStore> {
  let service = await startRedis(folder)
  let hasExited = false
  const { port, url } = service
  const watch = () => {
    hasExited = false
    const { exited } = service
    void exited.then(() => {
      if (service.exited === exited) hasExited = true
    })
  }
  watch()
  return {
    url,
    kill: async () => {
      if (hasExited) return
      process.kill(service.pid, 'SIGKILL')
      await service.exited
      hasExited = true
    },
    start: async () => {
      if (!hasExited) return
      service = await startRedis(folder, { port })
      watch()
    },
    hasExited: () => hasExited,
    pause: () => {
      const { pid } = service
      process.kill(pid, 'SIGSTOP')
      return () => {
        process.kill(pid, 'SIGCONT')
      }
    },
    flush: async () => {
      const client = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 5_000 })
      client.on('error', () => {})
      try {
        await client.flushall()
      } finally {
        client.disconnect()
      }
    },
    dump: async () => {
      const kept = join(folder, 'old-dump')
      await rm(kept, { recursive: true, force: true })
      await copyFolder(join(folder, data), kept)
      return async () => {
        await rm(join(folder, data), { recursive: true, force: true })
        await copyFolder(kept, join(folder, data))
      }
    },
    [Symbol.asyncDispose]: async () => service.stop()
  }
}
