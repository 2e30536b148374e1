import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { parseConfig } from '../src/config.ts'
import { openFairSemaphore } from '../src/platform/runtime/fair-semaphore.ts'
import { openLog } from '../src/platform/runtime/log.ts'
import { noCountryFinder } from '../src/radio/countries.ts'
import { openListenerDescriber } from '../src/radio/listener-details.ts'
import { openPollLeaseChecks } from '../src/radio/polls/lease-checks.ts'
import type { LeasedPoll } from '../src/radio/polls/poll-rows.ts'
import { storePollFindings } from '../src/radio/polls/store-findings.ts'
import { openServices } from '../src/services.ts'
import { measureCores } from './cores.ts'
import { readCpuByRole } from './cpu.ts'
import { drawGrowth, type GrowthPoint } from './growth.ts'
import { type Program, startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { positiveInteger, positiveIntegers, runs, seconds, selectParts } from './settings.ts'
import { formatNumber, formatSpread, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_340
const adminKey = '00000000000c0de5:000000000000000000000000000c0de5'
const connections = positiveInteger('CONNECTIONS', 16)
const sizes = positiveIntegers('STATIONS', [1_000])
/** Reports a second of the part `rate`. */
const rate = positiveInteger('RATE', 4_000)
const listed = 100
/** The last counts are flushed within a second. */
const flushMs = 1_500
/** Queues are filled meanwhile. */
const warmUpMs = 15_000
const parts = ['single', 'list', 'rate', 'polled'] as const

type Part = (typeof parts)[number]

/**
 * Measures reports of listeners of which each changes a count: `npm run bench -- counts`. `single`: a request for each
 * report; `list`: requests with 100 stations; `rate`: single reports at a constant rate; `polled`: what the pollers do
 * with 100 answers of streaming servers at a time, without asking them, in this process. Prints the rate, the response
 * times, and the CPU of each report. `STATIONS`, `CONNECTIONS`, `RATE`, `RUNS`, `SECONDS` and `PARTS` change the load.
 */
export async function counts(): Promise<void> {
  const rows: string[][] = []
  const points: GrowthPoint[] = []
  for (const stations of sizes) {
    const program = await startProgram(port, { env: { ADMIN_API_KEY: adminKey } })
    const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
    const printCores = measureCores(program.pid)
    try {
      await seedStations(sql, { stations, tracks: 5, songMs: 3_600_000, dueInMs: 3_600_000 })
      const ids = (await sql<{ id: string }[]>`select id from stations order by id`).map(({ id }) =>
        Number(id)
      )
      await wait(warmUpMs + stations * 2)
      await sql`analyze`
      for (const part of selectParts(parts)) {
        const measured: Measured[] = []
        for (let run = 0; run < runs; run++)
          measured.push(
            part === 'polled' ? await measurePolled(program) : await measure(part, ids, program.pid)
          )
        rows.push([formatNumber(stations), part, ...columns(measured)])
        points.push({ name: part, size: stations, values: measured.map(cpuOf) })
      }
    } finally {
      printCores()
      await sql.end()
      await program.stop()
    }
  }
  await drawGrowth('counts', { title: 'CPU of a listener report', unit: 'ms' }, points)
  printTable(['stations', 'part', 'reports/s', 'p50, ms', 'p99, ms', 'CPU per report, ms', 'of it'], rows)
}

interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly cpu: Readonly<Record<string, number>>
}

const cpuOf = ({ cpu }: Measured) => Object.values(cpu).reduce((sum, each) => sum + each, 0)

function columns(measured: readonly Measured[]): string[] {
  const roles = Object.keys(measured[0]?.cpu ?? {})
  const roleMs = (role: string) => formatNumber(Math.min(...measured.map(({ cpu }) => cpu[role] ?? 0)), 3)
  return [
    formatSpread(measured.map(({ perSecond }) => perSecond)),
    formatSpread(
      measured.map(({ p50 }) => p50),
      1
    ),
    formatSpread(
      measured.map(({ p99 }) => p99),
      1
    ),
    formatSpread(measured.map(cpuOf), 3),
    roles.map(role => `${role} ${roleMs(role)}`).join(', ')
  ]
}

let total = 0

async function measure(part: Part, ids: readonly number[], pid: number): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const times: number[] = []
  let reports = 0
  let next = 0
  const pick = () => ids[next++ % ids.length] ?? 1
  const before = readCpuByRole(pid)
  const fromMs = performance.now()
  const untilMs = fromMs + seconds * 1_000
  const send = async () => {
    total = (total + 1) % 1_000_000
    const startMs = performance.now()
    if (part === 'list') {
      const stations = Array.from({ length: listed }, () => ({ station: pick(), total }))
      await put(agent, '/api/listeners', { stations })
      reports += listed
    } else {
      await put(agent, `/api/station/${pick()}/listeners`, { total })
      reports++
    }
    times.push(performance.now() - startMs)
  }
  const lanes =
    part === 'rate'
      ? [paced(send, untilMs)]
      : Array.from({ length: connections }, () => repeatedly(send, untilMs))
  await Promise.all(lanes)
  const elapsedS = (performance.now() - fromMs) / 1_000
  await wait(flushMs)
  const after = readCpuByRole(pid)
  agent.destroy()
  return summarize(reports, times, elapsedS, before, after)
}

/** The same reports as a poller's, which has a source of the station and no totals. */
async function measurePolled(program: Program): Promise<Measured> {
  const log = await openLog('bench', 'error')
  const config = parseConfig({ DATABASE_URL: program.databaseUrl, REDIS_URL: program.redisUrl })
  await using services = await openServices(config, log, 'workers')
  const { sql } = services
  const deps = {
    ...services,
    isLeased: openPollLeaseChecks(sql),
    describeListener: openListenerDescriber(noCountryFinder),
    writes: openFairSemaphore({ total: 1 })
  }
  const leasedUntilMs = Date.now() + 3_600_000
  await sql`insert into polls (station_id, due_at_ms) select id, ${leasedUntilMs} from stations on conflict do nothing`
  const polls = await sql<(LeasedPoll & { mountId: number })[]>`
    select p.id, p.station_id as "stationId", p.due_at_ms as "leasedUntilMs",
      p.answered_at_ms as "lastAnsweredAtMs", h.id as "mountId"
    from polls p join hls_streams h on h.station_id = p.station_id order by p.station_id`
  const times: number[] = []
  let next = 0
  const store = async () => {
    const poll = polls[next++ % polls.length]
    if (poll === undefined) throw new Error('there are no polls')
    total = (total + 1) % 1_000_000
    const startMs = performance.now()
    const report = { mounts: [{ id: poll.mountId, total, unique: total }], remotes: [], hls: [] }
    await storePollFindings(
      deps,
      poll,
      { report, observed: null, encoding: null, total },
      { atMs: Date.now() }
    )
    times.push(performance.now() - startMs)
  }
  const before = { ...readCpuByRole(program.pid), poller: ownCpuSeconds() }
  const fromMs = performance.now()
  await Promise.all(Array.from({ length: listed }, () => repeatedly(store, fromMs + seconds * 1_000)))
  const elapsedS = (performance.now() - fromMs) / 1_000
  await wait(flushMs)
  return summarize(times.length, times, elapsedS, before, {
    ...readCpuByRole(program.pid),
    poller: ownCpuSeconds()
  })
}

const ownCpuSeconds = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000_000
}

function summarize(
  reports: number,
  times: readonly number[],
  elapsedS: number,
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>
): Measured {
  const sorted = sortAscending(times)
  const cpu = Object.entries(after).filter(([role]) => role !== 'other')
  return {
    perSecond: reports / elapsedS,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
    cpu: Object.fromEntries(
      cpu.map(([role, value]) => [role, ((value - (before[role] ?? 0)) / reports) * 1_000])
    )
  }
}

async function repeatedly(send: () => Promise<void>, untilMs: number): Promise<void> {
  while (performance.now() < untilMs) await send()
}

/** Sends at a constant rate, whether earlier requests were answered or not. */
async function paced(send: () => Promise<void>, untilMs: number): Promise<void> {
  const startMs = performance.now()
  const inFlight = new Set<Promise<void>>()
  for (let sent = 0; performance.now() < untilMs;) {
    const due = Math.floor(((performance.now() - startMs) * rate) / 1_000)
    for (; sent < due; sent++) {
      const running = send().finally(() => inFlight.delete(running))
      inFlight.add(running)
    }
    await wait(1)
  }
  await Promise.all(inFlight)
}

function put(agent: Agent, path: string, body: unknown): Promise<void> {
  const text = JSON.stringify(body)
  const headers = {
    'X-API-Key': adminKey,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text)
  }
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, port, host: '127.0.0.1', method: 'PUT', path, headers, timeout: 10_000 },
      response => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve()
          else reject(new Error(`${path}: ${response.statusCode}`))
        })
      }
    )
    sent.on('error', reject).end(text)
  })
}
