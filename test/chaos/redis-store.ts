import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { Redis } from 'ioredis'

import { startRedis } from '../../src/embedded/redis.ts'
import { copyFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

/** A Redis that can be killed, paused, emptied, set back to an old dump, and replaced by a replica. */
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
  /** Starts a replica that has all there is. */
  readonly openReplica: () => Promise<Replica>
}

export interface Replica {
  /** Lets it take in nothing more. */
  readonly fallBehind: () => Promise<void>
  /** Kills the Redis and puts the replica in its place. */
  readonly promote: () => Promise<void>
}

const data = 'appendonlydir'
const syncMs = 10_000

/** Starts a Redis whose data is in a folder. Replicas have folders of their own beside its data. */
export async function openRedisStore(home: string): Promise<RedisStore> {
  let folder = join(home, 'redis-0')
  let replicas = 0
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
  const kill = async () => {
    if (hasExited) return
    process.kill(service.pid, 'SIGKILL')
    await service.exited
    hasExited = true
  }

  async function openReplica(): Promise<Replica> {
    const own = join(home, `redis-${++replicas}`)
    await mkdir(own, { recursive: true })
    await copyFile(join(folder, 'password'), join(own, 'password'))
    const replica = await startRedis(own)
    const ask = async (work: (client: Redis) => Promise<unknown>) => withClient(replica.url, work)
    await ask(async client => {
      await client.config('SET', 'masterauth', decodeURIComponent(new URL(url).password))
      await client.replicaof('127.0.0.1', port)
      await waitFor(async () => (await client.info('replication')).includes('master_link_status:up'), {
        deadlineMs: syncMs,
        what: 'a replica to have all there is'
      })
    })
    return {
      fallBehind: async () => ask(async client => client.replicaof('NO', 'ONE')),
      promote: async () => {
        await kill()
        // Started again: a Redis 7.0 that became a replica writes a damaged file once its disk is full.
        await replica.stop()
        await rm(folder, { recursive: true, force: true })
        folder = own
        service = await startRedis(folder, { port })
        watch()
      }
    }
  }

  return {
    url,
    kill,
    openReplica,
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
    flush: async () => withClient(url, async client => client.flushall()),
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

async function withClient(url: string, work: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 5_000 })
  client.on('error', () => {})
  try {
    await work(client)
  } finally {
    client.disconnect()
  }
}
