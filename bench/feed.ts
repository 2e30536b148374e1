import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { startRedis } from '../src/stores/embedded/redis.ts'
import { resolveRedisPlace } from '../src/stores/redis/check-redis.ts'
import { openRedis, type RedisClient } from '../src/stores/redis/connection.ts'
import { applyCountsReport } from '../src/stores/redis/listener-store.ts'
import { commitState } from '../src/stores/redis/station-store.ts'
import type { FollowerCommand, FollowerReport } from './feed/follower.ts'
import { exampleCounts, exampleState } from './feed/states.ts'
import { drawGrowth, type GrowthPoint } from './growth.ts'
import { positiveInteger, positiveIntegers } from './settings.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

const stationCounts = positiveIntegers('STATIONS', [1_000, 10_000, 100_000])
const measuredSeconds = positiveInteger('SECONDS', 30)
const atOnce = 500
/** Every station has a new count in this time. */
const reportIntervalSeconds = 15
/** Reports are sent in so many batches a second. */
const batchesPerSecond = 20
const listBuilds = 3

/**
 * Measures the feed of a server process with many stations: `npm run bench -- feed`. `STATIONS` changes the
 * numbers of stations, `SECONDS` the duration of the measurements.
 */
export async function feed(): Promise<void> {
  const rows: string[][] = []
  const memory: GrowthPoint[] = []
  const cores: GrowthPoint[] = []
  for (const stations of stationCounts) {
    const measured = await measure(stations)
    const { started, counted, listed } = measured
    rows.push(formatRow(stations, measured))
    const addMemory = (name: string, { rssBytes }: FollowerReport) =>
      memory.push({ name, size: stations, values: [rssBytes / 1e6] })
    addMemory('after the start', started)
    addMemory('with counts', counted)
    addMemory('after lists', listed)
    cores.push({ name: 'counts every 15 s', size: stations, values: [counted.cores] })
  }
  await drawGrowth('feed-memory', { title: 'Memory of a feed', unit: 'MB' }, memory)
  await drawGrowth('feed-cores', { title: 'CPU of a feed', unit: 'cores' }, cores)
  printTable(
    [
      'stations',
      'start',
      'memory after it',
      'cores, idle',
      'counts/s',
      'cores',
      'received, MB/s',
      'longest delay',
      'memory after it',
      'heap',
      'whole list',
      'built in',
      'longest delay',
      'memory after it'
    ],
    rows
  )
}

const megabytes = (bytes: number, digits = 0) => `${formatNumber(bytes / 1e6, digits)} MB`
const milliseconds = (ms: number) => `${formatNumber(ms)} ms`
const seconds = (ms: number) => `${formatNumber(ms / 1_000, 1)} s`

async function measure(stations: number): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  const server = await startRedis(folder)
  const redis = openRedis(await resolveRedisPlace(server.url), 'bench')
  try {
    await redis.connect()
    await fill(redis, stations)
    return await measureFollower(redis, server.url, stations)
  } finally {
    redis.disconnect()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function formatRow(stations: number, measured: Measured): string[] {
  const { started, idle, counted, countsPerSecond, lists, listed } = measured
  return [
    formatNumber(stations),
    seconds(started.ms),
    megabytes(started.rssBytes),
    idle.cores.toFixed(3),
    formatNumber(countsPerSecond),
    counted.cores.toFixed(3),
    formatNumber(counted.bytes / 1e6 / measuredSeconds, 2),
    milliseconds(counted.longestDelayMs),
    megabytes(counted.rssBytes),
    megabytes(counted.heapBytes),
    megabytes(listed.listBytes),
    lists.map(({ ms }) => seconds(ms)).join(', '),
    milliseconds(listed.longestDelayMs),
    megabytes(listed.rssBytes)
  ]
}

interface Measured {
  readonly started: FollowerReport
  readonly idle: FollowerReport
  readonly counted: FollowerReport
  readonly countsPerSecond: number
  readonly lists: readonly FollowerReport[]
  /** After the last list. */
  readonly listed: FollowerReport
}

async function measureFollower(redis: RedisClient, redisUrl: string, stations: number): Promise<Measured> {
  // A process of its own, whose memory is not that of this one.
  const file = fileURLToPath(new URL('feed/follower.ts', import.meta.url))
  const child = fork(file, [redisUrl], { execArgv: ['--import', 'tsx'] })
  try {
    const started = await ask(child, 'start')
    await ask(child, 'begin')
    await wait(measuredSeconds * 1_000)
    const idle = await ask(child, 'usage')
    await ask(child, 'begin')
    const countsPerSecond = await changeCounts(redis, stations)
    const counted = await ask(child, 'usage')
    await ask(child, 'begin')
    const lists: FollowerReport[] = []
    for (let build = 0; build < listBuilds; build++) lists.push(await ask(child, 'list'))
    const listed = lists.at(-1) ?? counted
    return { started, idle, counted, countsPerSecond, lists, listed }
  } finally {
    child.kill()
  }
}

async function ask(child: ChildProcess, command: FollowerCommand): Promise<FollowerReport> {
  child.send(command)
  const [report]: FollowerReport[] = await once(child, 'message', { signal: AbortSignal.timeout(300_000) })
  if (report === undefined) throw new Error('the follower sent no report')
  return report
}

/** Changes the count of every station every 15 s, in turn. Returns the changes per second. */
async function changeCounts(redis: RedisClient, stations: number): Promise<number> {
  const perBatch = stations / reportIntervalSeconds / batchesPerSecond
  const batches = measuredSeconds * batchesPerSecond
  const fromMs = performance.now()
  let sent = 0
  for (let batch = 1; batch <= batches; batch++) {
    const upTo = Math.round(batch * perBatch)
    const reports = Array.from({ length: upTo - sent }, (_, index) => sent + index)
    await Promise.all(
      reports.map(async number =>
        applyCountsReport(redis, (number % stations) + 1, {
          totals: null,
          counts: [{ kind: 'mount', path: '/radio.mp3', total: 100 + (number % 977), unique: 50 }],
          ignoresUnknown: false
        })
      )
    )
    sent = upTo
    await wait(Math.max(0, fromMs + (batch * 1_000) / batchesPerSecond - performance.now()))
  }
  return (sent * 1_000) / (performance.now() - fromMs)
}

async function fill(redis: RedisClient, stations: number): Promise<void> {
  for (let first = 1; first <= stations; first += atOnce) {
    const count = Math.min(atOnce, stations - first + 1)
    const states = Array.from({ length: count }, (_, index) => exampleState(first + index))
    await Promise.all(
      states.map(async state =>
        commitState(redis, { state, counts: exampleCounts(state), over: '', triggers: [] })
      )
    )
  }
}
