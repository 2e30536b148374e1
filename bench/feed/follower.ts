import { monitorEventLoopDelay } from 'node:perf_hooks'

import { Redis } from 'ioredis'
import { pino } from 'pino'

import { openFeed } from '../../src/live/feed/feed.ts'
import { openStationRenderers } from '../../src/model/station/renderer.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openRedis, openRedisSubscriber } from '../../src/stores/redis/connection.ts'
import { watchWriteHealth } from '../../src/stores/redis/write-health.ts'

/** What the process of a feed can be asked. */
export type FollowerCommand = 'start' | 'begin' | 'usage' | 'list'

/** How long a command took, and what was used since the last `begin`. `bytes`: received from Redis. */
export interface FollowerReport {
  readonly ms: number
  readonly cores: number
  readonly bytes: number
  readonly rssBytes: number
  readonly heapBytes: number
  readonly longestDelayMs: number
  readonly listBytes: number
}

const place = await resolveRedisPlace(process.argv[2] ?? '')
const redis = openRedis(place, 'bench')
const subscriber = openRedisSubscriber(place, 'bench-changes')
await Promise.all([redis, subscriber].map(async client => client.connect()))

const log = pino({ level: 'warn' })
const writes = watchWriteHealth(redis, { log, outages: { begin: () => {} } })

const openFollower = async () =>
  openFeed({
    redis,
    subscriber,
    writes,
    renderers: openStationRenderers('documented', 'https://radio.example.com'),
    log,
    renew: () => Promise.resolve(),
    readIdentities: async () => new Map()
  })

let feed: Awaited<ReturnType<typeof openFollower>> | null = null
const delays = monitorEventLoopDelay({ resolution: 1 })
let beganMs = 0
let cpuAtBegin = process.cpuUsage()
let bytesAtBegin = 0
let listBytes = 0

const bytesRead = () =>
  [redis, subscriber].reduce(
    (sum, client) => sum + (client instanceof Redis ? client.stream.bytesRead : 0),
    0
  )

function begin(): void {
  beganMs = performance.now()
  cpuAtBegin = process.cpuUsage()
  bytesAtBegin = bytesRead()
  delays.reset()
  delays.enable()
}

async function buildList(): Promise<void> {
  const list = await feed?.longList(new Set(), () => {})
  listBytes = list?.size ?? 0
  list?.release()
}

const work: Record<FollowerCommand, () => unknown> = {
  start: async () => (feed = await openFollower()),
  begin,
  usage: () => {},
  list: buildList
}

process.on('message', (command: FollowerCommand) => void respond(command))

async function respond(command: FollowerCommand): Promise<void> {
  const fromMs = performance.now()
  await work[command]()
  const { user, system } = process.cpuUsage(cpuAtBegin)
  const { rss: rssBytes, heapUsed: heapBytes } = process.memoryUsage()
  const report: FollowerReport = {
    ms: performance.now() - fromMs,
    cores: (user + system) / 1_000 / (performance.now() - beganMs),
    bytes: bytesRead() - bytesAtBegin,
    rssBytes,
    heapBytes,
    longestDelayMs: delays.max / 1e6,
    listBytes
  }
  process.send?.(report)
}
