import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { Redis } from 'ioredis'

import { startRedis } from '../../src/stores/embedded/redis.ts'
import { copyFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

/** A Redis that can be killed, paused, flushed, restored from an old dump, and replaced by a replica. */
export interface RedisStore extends AsyncDisposable {
  readonly url: string
  /** SIGKILL. Resolves when it has exited. */
  readonly kill: () => Promise<void>
  /** Starts it unless it runs. Resolves when it answers commands. */
  readonly start: () => Promise<void>
  readonly hasExited: () => boolean
  readonly pause: () => () => void
  readonly flush: () => Promise<void>
  /** Copies its data. Returns a function that restores the copy while Redis is stopped. */
  readonly dump: () => Promise<() => Promise<void>>
  /** Starts a replica and waits until it has all data. */
  readonly openReplica: () => Promise<Replica>
}

interface Replica {
  /** Stops the replication. */
  readonly fallBehind: () => Promise<void>
  /** Kills Redis and replaces it with the replica. */
  readonly promote: () => Promise<void>
  readonly url: string
  /** Takes writes from now on, and makes Redis its replica, which keeps its connections. */
  readonly takeOver: () => Promise<void>
  /** Reverses `takeOver` once Redis has all data. */
  readonly giveBack: () => Promise<void>
  /** Stops the replica, which has given back. */
  readonly close: () => Promise<void>
}

const data = 'appendonlydir'
const syncMs = 10_000

/** Starts a Redis with its data in a folder. Replicas use other folders beside it. */
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
    const follow = async (ofUrl: string, otherPort: number) =>
      withClient(ofUrl, async client => {
        await client.config('SET', 'masterauth', decodeURIComponent(new URL(url).password))
        await client.replicaof('127.0.0.1', otherPort)
        await waitFor(async () => (await client.info('replication')).includes('master_link_status:up'), {
          deadlineMs: syncMs,
          what: 'the synchronization of the replica'
        })
      })
    await follow(replica.url, port)
    return {
      url: replica.url,
      takeOver: async () => {
        await ask(async client => client.replicaof('NO', 'ONE'))
        await follow(url, replica.port)
      },
      giveBack: async () => {
        await withClient(url, async client => client.replicaof('NO', 'ONE'))
        // Restarted, because a Redis 7.0 that became a replica writes a corrupt file once its disk is full.
        await service.stop()
        service = await startRedis(folder, { port })
        watch()
        await follow(replica.url, port)
      },
      close: async () => replica.stop(),
      fallBehind: async () => ask(async client => client.replicaof('NO', 'ONE')),
      promote: async () => {
        await kill()
        // Restarted, as in `giveBack`.
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
