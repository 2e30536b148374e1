import { setTimeout as wait } from 'node:timers/promises'

import { nowMs } from '../clock.ts'
import { startOnAir } from '../on-air.ts'
import { runs, seconds } from '../settings.ts'
import type { Marks } from '../sockets/commands.ts'
import { openReceiver } from '../sockets/receivers.ts'
import { number, quantile, sorted, spread } from '../statistics.ts'
import { printTable } from '../table.ts'
import { hearCommits } from './commits.ts'
import { followers } from './followers.ts'

const port = 18_240
const stationId = 1
const sockets = 1_000
const changesPerSecond = 5
const settleMs = 1_000
/** One client in so many looks at its frames, evenly among those that came before and after it. */
const every = 20
/**
 * The offset of a publication stands at its end. The kernel takes the frames of the others, and keeps them.
 */
const marks: Marks = { marker: '"offset":', isLast: true, every, othersWait: true }

/**
 * From the commit of a song change in Redis to its frame at 50 of 1,000 sockets. Were all of them read, the
 * reading would take as long as the writing and be measured with it.
 */
export async function measureCommits(): Promise<void> {
  const program = await startOnAir(port, { stations: 10 })
  const receiver = openReceiver()
  const commits = await hearCommits(program.redisUrl, stationId)
  const measured: { p50: number; p99: number; max: number; missing: number; fromRequest: number }[] = []
  try {
    await receiver.ask({ type: 'open', target: followers(program, [stationId]), count: sockets })
    await skipFor(1)
    for (let run = 0; run < runs; run++) {
      await wait(settleMs)
      await receiver.ask({ type: 'count', marks })
      const known = new Set(commits.atMs.keys())
      const askedAtMs = await skipFor(seconds)
      await wait(settleMs)
      const { samples } = await receiver.ask({ type: 'read' })
      const own = [...commits.atMs].filter(([version]) => !known.has(version))
      if (own.length === 0) throw new Error('received no song change from Redis')
      const asked = new Map(own.map(([version], index) => [version, askedAtMs[index] ?? Number.NaN]))
      const committed = new Map(own)
      const since = (moments: ReadonlyMap<number, number>) =>
        sorted(
          samples.flatMap(([, version, atMs]) => {
            const momentMs = moments.get(version)
            return momentMs === undefined ? [] : [atMs - momentMs]
          })
        )
      const latencies = since(committed)
      measured.push({
        p50: quantile(latencies, 0.5),
        p99: quantile(latencies, 0.99),
        max: quantile(latencies, 1),
        missing: own.length * (sockets / every) - latencies.length,
        fromRequest: quantile(since(asked), 0.99)
      })
    }
  } finally {
    commits.close()
    await receiver.close()
    await program.stop()
  }
  report(measured)

  /** Gives when each skip was asked for. */
  async function skipFor(forSeconds: number): Promise<number[]> {
    const askedAtMs: number[] = []
    const fromMs = nowMs()
    for (let each = 0; each < forSeconds * changesPerSecond; each++) {
      await wait(Math.max(0, fromMs + (each * 1_000) / changesPerSecond - nowMs()))
      askedAtMs.push(nowMs())
      await program.skip(stationId)
    }
    return askedAtMs
  }
}

function report(
  measured: readonly { p50: number; p99: number; max: number; missing: number; fromRequest: number }[]
): void {
  console.log(
    `\nSong change, commit to frame: ${number(sockets)} sockets, ${changesPerSecond}/s, ${runs} runs of ${seconds} s`
  )
  printTable(
    ['p50 ms', 'p99 ms', 'max ms', 'p99 ms from the request', 'frames missing'],
    [
      [
        spread(
          measured.map(each => each.p50),
          1
        ),
        spread(
          measured.map(each => each.p99),
          1
        ),
        spread(
          measured.map(each => each.max),
          1
        ),
        spread(
          measured.map(each => each.fromRequest),
          1
        ),
        spread(measured.map(each => each.missing))
      ]
    ]
  )
}
