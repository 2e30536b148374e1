import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Redis } from 'ioredis'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { type GuardedProcess, startGuardedProcess } from '../../src/stores/embedded/guarded-process.ts'
import { waitFor } from './wait.ts'

/** Settings of Redis by name, which may be several lines of one. */
export type RedisSettings = Readonly<Record<string, string | number | readonly string[]>>

/** A real Redis, or a Sentinel, on 127.0.0.1 in a folder of its own. */
export interface RedisNode {
  readonly port: number
  readonly url: string
  /** A client of only this node. */
  readonly client: Redis
  /** Starts it, also after `kill`, with its data. Resolves when it answers. */
  readonly start: () => Promise<void>
  /** Kills it by SIGKILL. */
  readonly kill: () => Promise<void>
  /** Stops it by SIGSTOP, so that its connections hang. Returns the function that continues it. */
  readonly pause: () => () => void
  readonly close: () => Promise<void>
}

interface NodeOptions {
  /** The words that start `redis-server`. */
  readonly command: readonly string[]
  /** Its folder is created in this one. */
  readonly parent: string
  readonly password: string
  /** In addition to port, folder and password. */
  readonly settings: RedisSettings
  readonly isSentinel?: boolean
}

/** Prepares a node on a free port. */
export async function openRedisNode(options: NodeOptions): Promise<RedisNode> {
  const { command, parent, password, settings, isSentinel = false } = options
  const port = await findFreePort()
  const folder = join(parent, String(port))
  await mkdir(folder)
  const file = join(folder, 'node.conf')
  const own = { port, bind: '127.0.0.1', dir: folder, requirepass: password, ...settings }
  await writeFile(file, renderSettings(own))
  const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${port}`
  const client = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    retryStrategy: () => 20
  })
  // Refused connections are expected while it is down.
  client.on('error', () => {})
  let server: GuardedProcess | null = null
  const kill = async () => {
    if (server === null || server.hasExited()) return
    process.kill(server.pid, 'SIGKILL')
    await server.exited
  }
  return {
    port,
    url,
    client,
    kill,
    start: async () => {
      const words = [...command, file, ...(isSentinel ? ['--sentinel'] : [])]
      const started = await startGuardedProcess(words, { stopSignal: 'TERM', cwd: folder })
      server = started
      const ended = started.exited.then(() => {
        throw new Error(`a node of Redis ended: ${started.lastOutput()}`)
      })
      const responses = waitFor(async () => client.ping(), {
        deadlineMs: 20_000,
        what: 'Redis to load its data'
      })
      await Promise.race([responses, ended])
      // A test may wait for its end later.
      ended.catch(() => {})
    },
    pause: () => {
      const { pid } = server ?? { pid: 0 }
      process.kill(pid, 'SIGSTOP')
      return () => {
        process.kill(pid, 'SIGCONT')
      }
    },
    close: async () => {
      client.disconnect()
      await kill()
    }
  }
}

/** A file, because Sentinel writes what it finds into it. */
function renderSettings(settings: RedisSettings): string {
  const lines = Object.entries(settings).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map(each => `${name} ${each === '' ? '""' : each}`)
  )
  return `${lines.join('\n')}\n`
}

/** Makes a node a replica of another one with the same password, and waits until it has all data. */
export async function replicate(node: RedisNode, primary: RedisNode): Promise<void> {
  await node.client.replicaof('127.0.0.1', primary.port)
  await untilSynchronized(node)
}

/** Waits until a replica has all data. */
export async function untilSynchronized({ client }: RedisNode): Promise<void> {
  await waitFor(async () => (await client.info('replication')).includes('master_link_status:up'), {
    deadlineMs: 20_000,
    what: 'the synchronization of the replica'
  })
}
