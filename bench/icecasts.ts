import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { killOnExit } from './children.ts'
import { findPid, readCpuByRole, readMemoryBytes } from './cpu.ts'
import { type Program, startProgram } from './program.ts'
import { positiveInteger, selectParts } from './settings.ts'
import { formatNumber, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_380
const adminKey = '00000000000bec00:000000000000000000000000000bec00'
const stations = positiveInteger('STATIONS', 1_000)
const measuredMs = positiveInteger('SECONDS', 120) * 1_000
const settleMs = 30_000
/** A key may write 100 times a second. */
const createdPerSecond = 80

/** Of every 20 servers, how many refuse connections and how many hang. */
const parts = { good: { down: 0, hanging: 0 }, bad: { down: 1, hanging: 1 } }

/**
 * Measures polls of the streaming servers of 1,000 stations by one workers process; half of the servers have
 * listeners: `npm run bench -- polls`. `PARTS` selects from `good` and `bad` (every twentieth server refuses
 * connections, and every twentieth hangs); `STATIONS` and `SECONDS` change the load. All traffic is local.
 */
export async function polls(): Promise<void> {
  for (const part of selectParts(['good', 'bad'])) await measure(part)
}

async function measure(part: keyof typeof parts): Promise<void> {
  const icecasts = await startIcecasts()
  const program = await startProgram(port, { env: { ADMIN_API_KEY: adminKey, LOG_LEVEL: 'error' } })
  try {
    const { down, hanging } = parts[part]
    for (let n = 1; n <= stations; n++) {
      const origin = n % 20 < down ? 'http://127.0.0.1:1024' : `http://127.0.0.1:${icecasts.port}`
      const path = n % 20 >= down && n % 20 < down + hanging ? `hang/${n}` : `${n}`
      await createStation(program, n, `${origin}/${path}`)
      await wait(1_000 / createdPerSecond)
    }
    await wait(settleMs)
    await icecasts.readPolls()
    const before = readCpuByRole(program.pid)
    const fromMs = Date.now()
    await wait(measuredMs)
    const after = readCpuByRole(program.pid)
    const seconds = (Date.now() - fromMs) / 1_000
    const pollTimes = await icecasts.readPolls()
    const coresOf = (role: string) => formatNumber(((after[role] ?? 0) - (before[role] ?? 0)) / seconds, 2)
    const memory = formatNumber(readMemoryBytes(findPid(program.pid, 'workers')) / 1e6)
    report(part, pollTimes, [`${coresOf('workers')} / ${coresOf('Postgres')}`, `${memory} MB`])
    console.log(`  cores in use: Redis ${coresOf('Redis')}, server ${coresOf('server')}`)
  } finally {
    await icecasts.stop()
    await program.stop()
  }
}

/** Unix milliseconds of the polls of each server, by its path. */
type PollTimes = Readonly<Record<string, readonly number[]>>

async function startIcecasts() {
  const file = fileURLToPath(new URL('icecasts/server.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  killOnExit(child)
  const [ready]: { port: number }[] = await once(child, 'message')
  return {
    port: ready?.port ?? 0,
    /** Returns the polls of each server since the last call. */
    readPolls: async (): Promise<PollTimes> => {
      const replied = once(child, 'message', { signal: AbortSignal.timeout(10_000) })
      child.send('report')
      const [reply]: { polls: PollTimes }[] = await replied
      return reply?.polls ?? {}
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
  }
}

async function createStation(program: Program, n: number, url: string): Promise<void> {
  const response = await fetch(`${program.baseUrl}/api/admin/stations`, {
    method: 'POST',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name: `Bench ${n}`,
      backend: n % 2 === 1 ? 'none' : 'clock',
      frontend_url: url,
      frontend_admin_password: 'hush'
    }),
    signal: AbortSignal.timeout(60_000)
  })
  if (!response.ok)
    throw new Error(`creating station ${n} failed: ${response.status} ${await response.text()}`)
  await response.arrayBuffer()
}

function report(part: string, pollTimes: PollTimes, usage: readonly string[]): void {
  const readIntervals = (isIncluded: (n: number) => boolean) =>
    sortAscending(
      Object.entries(pollTimes)
        .filter(([name]) => isIncluded(Number(name)))
        .flatMap(([, times]) => times.slice(1).map((atMs, index) => (atMs - (times[index] ?? 0)) / 1_000))
    )
  console.log(
    `\n${stations} stations, ${part === 'good' ? 'all servers answer' : '5 % of the servers refuse connections, 5 % hang'}`
  )
  printTable(
    [
      'part',
      'servers that answer',
      'interval, s',
      'polls',
      'p50, s',
      'p99, s',
      'max, s',
      'cores of the workers / Postgres',
      'memory of the workers'
    ],
    [
      [
        part,
        ...pollColumns(
          'with listeners',
          5,
          readIntervals(n => n % 2 === 1)
        ),
        ...usage
      ],
      [
        '',
        ...pollColumns(
          'idle',
          15,
          readIntervals(n => n % 2 === 0)
        ),
        '',
        ''
      ]
    ]
  )
}

const pollColumns = (name: string, meanSeconds: number, intervals: readonly number[]) => [
  name,
  `${formatNumber(meanSeconds * 0.9, 1)} to ${formatNumber(meanSeconds * 1.1, 1)}`,
  formatNumber(intervals.length),
  ...[0.5, 0.99, 1].map(share => formatNumber(quantile(intervals, share), 2))
]
