import { findOrDownloadRedis } from '../../src/stores/embedded/find-redis.ts'
import { openRedisNode, type RedisNode, type RedisSettings, replicate } from './redis-node.ts'
import { openTempFolder } from './temp-folder.ts'
import { waitFor } from './wait.ts'

const password = 'p@ss/word'
const sentinelPassword = 'watch:er'
const primaryName = 'radio'

/** A Redis and its replica, with a password that has to be escaped in URLs. */
export interface RedisPair extends AsyncDisposable {
  readonly primary: RedisNode
  readonly replica: RedisNode
  /** Lets the replica take writes and makes the primary its replica, without closing any connection. */
  readonly swap: () => Promise<void>
}

const settings = {
  masterauth: password,
  save: '',
  appendonly: 'yes',
  'maxmemory-policy': 'noeviction',
  'repl-diskless-sync-delay': 0
}

/** Starts both, and waits until the replica has all data. */
export async function startRedisPair(own: RedisSettings = {}): Promise<RedisPair> {
  const folder = await openTempFolder()
  const { command } = await findOrDownloadRedis(folder.path)
  const open = async () =>
    openRedisNode({ command, parent: folder.path, password, settings: { ...settings, ...own } })
  const [primary, replica] = [await open(), await open()]
  await Promise.all([primary.start(), replica.start()])
  await replicate(replica, primary)
  return {
    primary,
    replica,
    swap: async () => {
      await replica.client.replicaof('NO', 'ONE')
      await replicate(primary, replica)
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([primary.close(), replica.close()])
      await folder[Symbol.asyncDispose]()
    }
  }
}

/** Three Sentinels that watch a pair. */
export interface Sentinels extends AsyncDisposable {
  /** For REDIS_URL. */
  readonly url: string
  readonly nodes: readonly RedisNode[]
  /** Makes them promote the replica, which they give up if it does not answer in time. */
  readonly failoverTo: (node: RedisNode) => Promise<void>
  /** Resolves when all of them name the node that listens on this port as the primary, which takes writes. */
  readonly untilPrimary: (node: RedisNode) => Promise<void>
}

/** Starts Sentinels that watch a pair, and waits until they know each other and the replica. */
export async function startSentinels({ primary }: RedisPair): Promise<Sentinels> {
  const folder = await openTempFolder()
  const { command } = await findOrDownloadRedis(folder.path)
  const nodes = await Promise.all(
    [0, 1, 2].map(async () =>
      openRedisNode({
        command,
        parent: folder.path,
        password: sentinelPassword,
        isSentinel: true,
        settings: {
          sentinel: [
            `monitor ${primaryName} 127.0.0.1 ${primary.port} 2`,
            `auth-pass ${primaryName} ${password}`,
            `down-after-milliseconds ${primaryName} 1000`,
            `failover-timeout ${primaryName} 5000`,
            `sentinel-pass ${sentinelPassword}`
          ]
        }
      })
    )
  )
  await Promise.all(nodes.map(async node => node.start()))
  const [first] = nodes
  const askFor = async (node: RedisNode, what: string) => {
    const response: unknown = await node.client.call('SENTINEL', what, primaryName)
    return Array.isArray(response) ? response : []
  }
  await Promise.all(
    nodes.map(async node =>
      waitFor(
        async () =>
          (await askFor(node, 'sentinels')).length === 2 && (await askFor(node, 'replicas')).length === 1,
        { deadlineMs: 20_000, what: 'the Sentinels to know each other' }
      )
    )
  )
  const query = `sentinel_password=${encodeURIComponent(sentinelPassword)}`
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')
  return {
    url: `redis+sentinel://:${encodeURIComponent(password)}@${hosts}/${primaryName}/0?${query}`,
    nodes,
    failoverTo: async ({ port }) => {
      await waitFor(
        async () => {
          const [, found] = first ? await askFor(first, 'get-master-addr-by-name') : []
          if (Number(found) === port) return true
          await first?.client.call('SENTINEL', 'FAILOVER', primaryName)
          return false
        },
        { deadlineMs: 40_000, what: 'a failover that is not given up' }
      )
    },
    untilPrimary: async ({ port, client }) => {
      await Promise.all(
        nodes.map(async node =>
          waitFor(
            async () => {
              const [, found] = await askFor(node, 'get-master-addr-by-name')
              return Number(found) === port && (await client.info('replication')).includes('role:master')
            },
            { deadlineMs: 20_000, what: 'the failover' }
          )
        )
      )
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map(async node => node.close()))
      await folder[Symbol.asyncDispose]()
    }
  }
}
