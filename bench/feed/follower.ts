import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

import { pino } from 'pino'

import { openFeed } from '../../src/live/feed/feed.ts'
import { checkRedis } from '../../src/redis/check-redis.ts'
import { openRedis, openSubscriber } from '../../src/redis/connection.ts'
import { reportCounts } from '../../src/redis/listener-store.ts'

/** What the process of a feed measured. */
export interface FeedReport {
  readonly startMs: number
  readonly rssBytes: number
  readonly heapBytes: number
  readonly idleCores: number
  readonly changeCores: number
  readonly listBytes: number
  readonly listMs: readonly number[]
  /** Of the event loop, while lists were built. */
  readonly longestDelayMs: number
}

const idleMs = 10_000
const changeMs = 5_000
const changesPerSecond = 100
const listBuilds = 2

const place = await checkRedis(process.argv[2] ?? '')
const redis = openRedis(place, 'bench')
const writer = openRedis(place, 'bench-writer')
const subscriber = openSubscriber(place, 'bench-changes')
await Promise.all([redis, writer, subscriber].map(async client => client.connect()))
const startedMs = performance.now()
const feed = await openFeed({
  redis,
  subscriber,
  baseUrl: 'https://radio.example.com',
  log: pino({ level: 'warn' }),
  renew: () => Promise.resolve(),
  readIdentities: async () => new Map()
})
const startMs = performance.now() - startedMs
globalThis.gc?.()
await wait(1_000)
globalThis.gc?.()
const { rss: rssBytes, heapUsed: heapBytes } = process.memoryUsage()

/** The cores that this process uses while `work` runs. */
async function coresOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  const fromMs = performance.now()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000 / (performance.now() - fromMs)
}

/** Changes the listener counts of stations in turn, in this process too. */
async function change(): Promise<void> {
  const stations = feed.all()
  for (let count = 0; count < (changeMs / 1_000) * changesPerSecond; count++) {
    const station = stations[(count * 997) % stations.length]
    if (station === undefined) return
    const { stationId } = station.read()
    await reportCounts(writer, stationId, {
      totals: { total: count + 100, unique: 0 },
      counts: [],
      ignoresUnknown: false
    })
    await wait(1_000 / changesPerSecond)
  }
}

const idleCores = await coresOf(() => wait(idleMs))
const changeCores = await coresOf(change)
const delays = monitorEventLoopDelay({ resolution: 1 })
const listMs: number[] = []
let listBytes = 0
delays.enable()
for (let build = 0; build < listBuilds; build++) {
  const fromMs = performance.now()
  const list = await feed.longList(new Set(), () => {})
  listMs.push(performance.now() - fromMs)
  listBytes = list.bytes
  list.release()
}
const longestDelayMs = delays.max / 1e6
const report: FeedReport = {
  startMs,
  rssBytes,
  heapBytes,
  idleCores,
  changeCores,
  listBytes,
  listMs,
  longestDelayMs
}
process.send?.(report, () => process.exit())
