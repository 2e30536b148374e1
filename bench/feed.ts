import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { startRedis } from '../src/embedded/redis.ts'
import { checkRedis } from '../src/redis/check-redis.ts'
import { openRedis, type RedisClient } from '../src/redis/connection.ts'
import { commitState } from '../src/redis/station-store.ts'
import type { FeedReport } from './feed/follower.ts'
import { exampleCounts, exampleState } from './feed/states.ts'
import { positiveIntegers } from './settings.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

const stationCounts = positiveIntegers('STATIONS', [1_000, 10_000, 100_000])
const atOnce = 500

/**
 * Measures the feed of a server process with many stations: `npm run bench -- feed`. `STATIONS` changes the
 * numbers of stations.
 */
export async function feed(): Promise<void> {
  const rows: string[][] = []
  for (const stations of stationCounts) rows.push(await measure(stations))
  printTable(
    [
      'stations',
      'start',
      'memory (RSS)',
      'heap',
      'idle: cores',
      '100 changes/s: cores',
      'whole list: size, first and next build',
      'longest delay of other work meanwhile'
    ],
    rows
  )
}

const megabytes = (bytes: number) => `${formatNumber(bytes / 2 ** 20)} MB`

async function measure(stations: number): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'cuewire-bench-'))
  const server = await startRedis(folder)
  const redis = openRedis(await checkRedis(server.url), 'bench')
  try {
    await redis.connect()
    await fill(redis, stations)
    const report = await runFollower(server.url)
    return [
      formatNumber(stations),
      `${(report.startMs / 1_000).toFixed(1)} s`,
      megabytes(report.rssBytes),
      megabytes(report.heapBytes),
      report.idleCores.toFixed(3),
      report.changeCores.toFixed(3),
      `${megabytes(report.listBytes)}, ${report.listMs.map(ms => `${formatNumber(ms)} ms`).join(', ')}`,
      `${formatNumber(report.longestDelayMs)} ms`
    ]
  } finally {
    redis.disconnect()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
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

/** Runs the feed in a process of its own, whose memory is not that of this one. */
async function runFollower(redisUrl: string): Promise<FeedReport> {
  const file = fileURLToPath(new URL('feed/follower.ts', import.meta.url))
  const child = fork(file, [redisUrl], { execArgv: ['--import', 'tsx', '--expose-gc'] })
  const [report]: FeedReport[] = await once(child, 'message', { signal: AbortSignal.timeout(300_000) })
  if (report === undefined) throw new Error('the follower sent no report')
  return report
}
