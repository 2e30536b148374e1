import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import { startProgramOnAir } from '../on-air.ts'
import { runs, seconds } from '../settings.ts'
import type { Sampling } from '../sockets/commands.ts'
import { openReceiver } from '../sockets/receivers.ts'
import { formatNumber, formatSpread, quantile, sortAscending } from '../statistics.ts'
import { printTable } from '../table.ts'
import { subscribeToCommits } from './commits.ts'
import { subscriberTarget } from './subscribers.ts'

const port = 18_240
const stationId = 1
const sockets = 1_000
const changesPerSecond = 5
const settleMs = 1_000
/** Every nth client is sampled. */
const every = 20
/** The last offset in a frame is that of the publication. */
const sampling: Sampling = { marker: '"offset":', isLast: true, every, pauseOthers: true }

/**
 * Measures from the commit of a song change in Redis to its frame at 50 of 1,000 sockets. The others are not
 * read, because reading takes as much CPU time as writing and would be measured as latency.
 */
export async function measureCommits(): Promise<void> {
  const program = await startProgramOnAir(port, { stations: 10 })
  const receiver = openReceiver()
  const commits = await subscribeToCommits(program.redisUrl, stationId)
  const measured: { p50: number; p99: number; max: number; missing: number; fromRequest: number }[] = []
  try {
    await receiver.run({ type: 'open', target: subscriberTarget(program, [stationId]), count: sockets })
    await skipFor(1)
    for (let run = 0; run < runs; run++) {
      await wait(settleMs)
      await receiver.run({ type: 'count', sampling })
      const earlier = new Set(commits.atMs.keys())
      const requestedAtMs = await skipFor(seconds)
      await wait(settleMs)
      const { samples } = await receiver.run({ type: 'read' })
      const own = [...commits.atMs].filter(([offset]) => !earlier.has(offset))
      if (own.length === 0) throw new Error('received no song change from Redis')
      const requested = new Map(own.map(([offset], index) => [offset, requestedAtMs[index] ?? Number.NaN]))
      const committed = new Map(own)
      const measureSince = (times: ReadonlyMap<number, number>) =>
        sortAscending(
          samples.flatMap(([, offset, atMs]) => {
            const fromMs = times.get(offset)
            return fromMs === undefined ? [] : [atMs - fromMs]
          })
        )
      const latencies = measureSince(committed)
      measured.push({
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        max: quantile(latencies, 1),
        missing: own.length * (sockets / every) - latencies.length,
        fromRequest: quantile(measureSince(requested), 0.99)
      })
    }
  } finally {
    commits.close()
    await receiver.close()
    await program.stop()
  }
  report(measured)

  /** Skips songs at a constant rate. Returns the time of each request. */
  async function skipFor(forSeconds: number): Promise<number[]> {
    const requestedAtMs: number[] = []
    const fromMs = nowMs()
    for (let each = 0; each < forSeconds * changesPerSecond; each++) {
      await wait(Math.max(0, fromMs + (each * 1_000) / changesPerSecond - nowMs()))
      requestedAtMs.push(nowMs())
      await program.skip(stationId)
    }
    return requestedAtMs
  }
}

function report(
  measured: readonly { p50: number; p99: number; max: number; missing: number; fromRequest: number }[]
): void {
  console.log(
    `\nSong change, commit to frame: ${formatNumber(sockets)} sockets, ${changesPerSecond}/s, ${runs} runs of ${seconds} s`
  )
  printTable(
    ['p50 ms', 'p99 ms', 'max ms', 'p99 ms from the request', 'frames missing'],
    [
      [
        formatSpread(
          measured.map(each => each.p50),
          1
        ),
        formatSpread(
          measured.map(each => each.p99),
          1
        ),
        formatSpread(
          measured.map(each => each.max),
          1
        ),
        formatSpread(
          measured.map(each => each.fromRequest),
          1
        ),
        formatSpread(measured.map(each => each.missing))
      ]
    ]
  )
}
