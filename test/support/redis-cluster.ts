import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { Redis } from 'ioredis'

import { obtainRedis } from '../../src/embedded/find-redis.ts'
import { type GuardedProcess, startGuarded } from '../../src/embedded/guarded-process.ts'
import { findFreePort } from '../../src/runtime/ports.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

const slots = 16_384
const password = 'cluster-secret'

/** A real Redis Cluster of three masters on 127.0.0.1, with a password and its own folder. */
export interface RedisCluster extends AsyncDisposable {
  /** The URLs of all nodes, for REDIS_URL. */
  readonly url: string
  readonly nodes: readonly ClusterNode[]
  /** The node of the slot of this key. */
  readonly nodeOf: (key: string) => Promise<ClusterNode>
  /** Resolves when every node reports that all slots are served. */
  readonly ready: () => Promise<void>
  readonly flush: () => Promise<void>
}

/** One node of the cluster. */
export interface ClusterNode {
  readonly url: string
  /** A client of only this node. */
  readonly client: Redis
  /** Kills the node by SIGKILL; the others notice it after about a second. */
  readonly kill: () => Promise<void>
  /** Starts the node again with the data of its append-only file. */
  readonly start: () => Promise<void>
}

/** Starts the cluster and waits until it serves every slot. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const folder = await openTempFolder()
  const { command } = await obtainRedis(folder.path)
  const nodes = await Promise.all([0, 1, 2].map(async () => openNode(command, folder.path)))
  const ready = async () => {
    await Promise.all(
      nodes.map(async ({ client }) =>
        waitFor(async () => /cluster_state:ok[^]*cluster_known_nodes:3/.test(await client.cluster('INFO')), {
          deadlineMs: 10_000,
          what: 'the cluster'
        })
      )
    )
  }
  await Promise.all(nodes.map(async node => node.start()))
  await Promise.all(
    nodes.map(async ({ client }, index) => client.call('CLUSTER', 'ADDSLOTSRANGE', ...rangeOf(index)))
  )
  const [first, ...others] = nodes
  if (!first) throw new Error('no nodes')
  for (const { port, busPort } of others)
    await first.client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
  await ready()
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    nodeOf: async key => {
      const slot = await first.client.cluster('KEYSLOT', key)
      return nodes.findLast((_, index) => rangeOf(index)[0] <= slot) ?? first
    },
    ready,
    flush: async () => {
      await Promise.all(nodes.map(async ({ client }) => client.flushall()))
    },
    async [Symbol.asyncDispose]() {
      for (const { client, kill } of nodes) {
        client.disconnect()
        await kill()
      }
      await folder[Symbol.asyncDispose]()
    }
  }
}

/** The first and last slot of the node at `index`. */
function rangeOf(index: number): [number, number] {
  return [Math.ceil((slots * index) / 3), Math.ceil((slots * (index + 1)) / 3) - 1]
}

async function openNode(command: readonly string[], parent: string) {
  const [port, busPort] = [await findFreePort(), await findFreePort()]
  const folder = join(parent, String(port))
  await mkdir(folder)
  const url = `redis://:${password}@127.0.0.1:${port}`
  const client = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: null, retryStrategy: () => 20 })
  // Refused connections are expected while it is down.
  client.on('error', () => {})
  let server: GuardedProcess | null = null
  return {
    url,
    port,
    busPort,
    client,
    start: async () => {
      const started = await startGuarded([...command, ...argumentsOf(port, busPort, folder)], {
        stopSignal: 'TERM',
        cwd: folder
      })
      server = started
      const ended = started.exited.then(() => {
        throw new Error(`a node of the cluster ended: ${started.lastOutput()}`)
      })
      await Promise.race([client.ping(), ended])
      // A test may wait for its end later.
      ended.catch(() => {})
    },
    kill: async () => {
      if (server === null || server.hasExited()) return
      process.kill(server.pid, 'SIGKILL')
      await server.exited
    }
  }
}

function argumentsOf(port: number, busPort: number, folder: string): string[] {
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: folder,
    requirepass: password,
    save: '',
    appendonly: 'yes',
    'maxmemory-policy': 'noeviction',
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    'cluster-node-timeout': 1_000,
    'cluster-announce-ip': '127.0.0.1'
  }
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
}
