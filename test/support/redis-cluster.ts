import { findFreePort } from '../../src/platform/process/ports.ts'
import { findOrDownloadRedis } from '../../src/stores/embedded/find-redis.ts'
import { openRedisNode, type RedisNode, untilSynchronized } from './redis-node.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

const slots = 16_384
const password = 'cluster-secret'

/** A real Redis Cluster of three masters on 127.0.0.1, with a password and its own folder. */
export interface RedisCluster extends AsyncDisposable {
  /** The URLs of all nodes, for REDIS_URL. */
  readonly url: string
  readonly nodes: readonly RedisNode[]
  /** The node of the slot of this key. */
  readonly nodeOf: (key: string) => Promise<RedisNode>
  /** Resolves when every node reports that all slots are served. */
  readonly ready: () => Promise<void>
  readonly flush: () => Promise<void>
  /** Resolves when the replica of the first node, which was killed, is a master. */
  readonly untilPromoted: () => Promise<void>
}

/** Starts the cluster and waits until it serves every slot. `hasReplica`: the first node has a replica. */
export async function startRedisCluster({ hasReplica = false } = {}): Promise<RedisCluster> {
  const folder = await openTempFolder()
  const { command } = await findOrDownloadRedis(folder.path)
  const nodes = await Promise.all([0, 1, 2].map(async () => openNode(command, folder.path)))
  const replica = hasReplica ? await openNode(command, folder.path) : null
  const all = [...nodes, ...(replica === null ? [] : [replica])]
  const isComplete = new RegExp(`cluster_state:ok[^]*cluster_known_nodes:${all.length}`)
  const ready = async () => {
    await Promise.all(
      all.map(async ({ client }) =>
        waitFor(async () => isComplete.test(await client.cluster('INFO')), {
          deadlineMs: 10_000,
          what: 'the cluster'
        })
      )
    )
  }
  await Promise.all(all.map(async node => node.start()))
  await Promise.all(
    nodes.map(async ({ client }, index) => client.call('CLUSTER', 'ADDSLOTSRANGE', ...rangeOf(index)))
  )
  const [first, ...others] = all
  if (!first) throw new Error('no nodes')
  for (const { port, busPort } of others)
    await first.client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
  await ready()
  if (replica !== null) {
    await replica.client.cluster('REPLICATE', await first.client.cluster('MYID'))
    await untilSynchronized(replica)
  }
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    nodeOf: async key => {
      const slot = await first.client.cluster('KEYSLOT', key)
      return nodes.findLast((_, index) => rangeOf(index)[0] <= slot) ?? first
    },
    ready,
    untilPromoted: async () => {
      await waitFor(async () => (await replica?.client.info('replication'))?.includes('role:master'), {
        deadlineMs: 20_000,
        what: 'the replica to take over'
      })
    },
    flush: async () => {
      await Promise.all(nodes.map(async ({ client }) => client.flushall()))
    },
    async [Symbol.asyncDispose]() {
      for (const node of all) await node.close()
      await folder[Symbol.asyncDispose]()
    }
  }
}

/** The first and last slot of the node at `index`. */
function rangeOf(index: number): [number, number] {
  return [Math.ceil((slots * index) / 3), Math.ceil((slots * (index + 1)) / 3) - 1]
}

async function openNode(command: readonly string[], parent: string) {
  const busPort = await findFreePort()
  const node = await openRedisNode({ command, parent, password, settings: settingsOf(busPort) })
  return { ...node, busPort }
}

const settingsOf = (busPort: number) => ({
  masterauth: password,
  save: '',
  appendonly: 'yes',
  'maxmemory-policy': 'noeviction',
  'cluster-enabled': 'yes',
  'cluster-port': busPort,
  'cluster-node-timeout': 1_000,
  'cluster-announce-ip': '127.0.0.1'
})
