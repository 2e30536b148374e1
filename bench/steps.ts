import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { readCpuByRole } from './cpu.ts'
import { drawGrowth, type GrowthPoint } from './growth.ts'
import { listen, type Listener } from './listener.ts'
import { type ProgramOptions, startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { positiveInteger, runs, seconds, selectParts } from './settings.ts'
import { formatNumber, formatRatio, formatSpread, quantile, sortAscending } from './statistics.ts'
import { printTable } from './table.ts'

/**
 * Measures the steps of the playout: a step ends a song and starts the next. `npm run bench -- steps` starts the whole
 * program with an empty data folder for each run and subscribes to a sample of the stations as player widgets do.
 * Lateness is the time from the due time of a step to its WebSocket frame.
 *
 * `cost`: the CPU of a step by process, at 200 steps a second (`RATE`), after every library was loaded. `rate`: the
 * highest rate with a p99 of the lateness under 100 ms. Groups of stations begin to play one after the other, so the
 * rate grows by 100 steps a second with each group.
 *
 * `PERIODS` sets how many periods are measured of each run (default 1), because 100,000 stations take half an hour to
 * begin. `TRACKS` sets the number of songs of a station, and `PORT` the port.
 *
 * `BASELINE` names the folder of another version that was built: its costs are measured at the same time, so that what
 * slows the machine slows both. Which one starts first alternates.
 */
const stationsOf = {
  cost1000: 1_000,
  cost10000: 10_000,
  cost100000: 100_000,
  rate1000: 1_000,
  rate10000: 10_000
} as const
const parts = ['cost1000', 'cost10000', 'cost100000', 'rate1000', 'rate10000'] as const
const port = positiveInteger('PORT', 18_080)
const tracks = positiveInteger('TRACKS', 60)
const sampledStations = 1_000
/** Time to load the libraries and to publish the stations. */
const settleMs = (stations: number) => 20_000 + stations * 8

export async function steps(): Promise<void> {
  const points: GrowthPoint[] = []
  for (const part of selectParts(parts)) {
    const stations = stationsOf[part]
    if (part.startsWith('cost'))
      points.push({ name: `${stepsPerSecond} steps/s`, size: stations, values: await measureCosts(stations) })
    else await measureRates(stations)
  }
  await drawGrowth('steps', { title: 'CPU of a step', unit: 'ms' }, points)
}

const stepsPerSecond = positiveInteger('RATE', 200)
const periods = positiveInteger('PERIODS', 1)
const roles = ['workers', 'server', 'Postgres', 'Redis'] as const

const baseline = process.env['BASELINE']
const versions = [{ folder: undefined, port }, ...(baseline ? [{ folder: baseline, port: port + 20 }] : [])]

/** Returns the CPU of a step of each run and period of this version. */
async function measureCosts(stations: number): Promise<number[]> {
  const measured = versions.map((): Cost[] => [])
  for (let run = 0; run < runs; run++) {
    const costs = versions.map(
      ({ folder, port: own }) =>
        () =>
          withSteps(stations, { port: own, program: { folder } }, measurePeriods)
    )
    // The other one starts first in every second run.
    const started =
      run % 2 === 0
        ? costs.map(each => each())
        : costs
            .toReversed()
            .map(each => each())
            .toReversed()
    for (const [index, each] of (await Promise.all(started)).entries()) measured[index]?.push(...each)
  }
  printTable(
    ['version', 'stations', 'steps/s', 'CPU per step, ms', ...roles, 'lateness p50', 'p99', 'max, ms'],
    measured.map((costs, index) => [
      versions[index]?.folder ?? 'this one',
      formatNumber(stations),
      ...formatCosts(costs)
    ])
  )
  const [own = [], others = []] = measured.map(costs => costs.map(sumCpu))
  if (others.length > 0) console.log(`CPU of this one, of the other: ${formatRatio(own, others)}`)
  return own
}

const sumCpu = ({ cpuMs }: Cost) => Object.values(cpuMs).reduce((sum, each) => sum + each, 0)

function formatCosts(costs: readonly Cost[]): string[] {
  const column = (value: (cost: Cost) => number, digits = 0) => formatSpread(costs.map(value), digits)
  return [
    column(({ rate }) => rate),
    column(sumCpu, 2),
    ...roles.map(role => column(cost => cost.cpuMs[role] ?? 0, 2)),
    ...[0.5, 0.99, 1].map(share => column(({ lateness }) => quantile(lateness, share)))
  ]
}

/** Measures the steps of one run, by default at `RATE` steps a second. */
export function measureStepCost(stations: number, options: CostOptions = {}): Promise<Cost> {
  return withSteps(stations, options, measureCost)
}

/**
 * Starts stations, and calls `measure` when every station has played a song of this process, so its library is in
 * memory.
 */
function withSteps<Result>(
  stations: number,
  { stepsPerSecond: perSecond = stepsPerSecond, ...rest }: CostOptions,
  measure: (running: RunningStations) => Promise<Result>
): Promise<Result> {
  const songMs = Math.round((stations / perSecond) * 1_000)
  return withStations({ stations, songMs, ...rest }, async running => {
    await wait(songMs)
    return measure(running)
  })
}

interface CostOptions {
  readonly stepsPerSecond?: number
  readonly port?: number
  readonly program?: ProgramOptions
}

export interface Cost {
  readonly count: number
  readonly rate: number
  /** Milliseconds of CPU per step, by process. */
  readonly cpuMs: Readonly<Record<string, number>>
  /** Ascending. */
  readonly lateness: readonly number[]
}

async function measurePeriods(running: RunningStations): Promise<Cost[]> {
  const costs: Cost[] = []
  for (let period = 0; period < periods; period++) costs.push(await measureCost(running))
  return costs
}

async function measureCost({ sql, pid, listener }: RunningStations): Promise<Cost> {
  const before = readCpuByRole(pid)
  const fromMs = Date.now()
  await wait(seconds * 1_000)
  const after = readCpuByRole(pid)
  const toMs = Date.now()
  const { count, lateness } = await readSteps(sql, listener, fromMs, toMs)
  const cpuMs = Object.fromEntries(
    roles.map(role => [role, (((after[role] ?? 0) - (before[role] ?? 0)) / count) * 1_000])
  )
  return { count, rate: (count / (toMs - fromMs)) * 1_000, cpuMs, lateness }
}

const rates = [100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000] as const
const highestRate = 1_000
const mostLateMs = 100
/** Above this lateness the program is overloaded, and higher rates are not tried. */
const overloadedMs = 1_000

async function measureRates(stations: number): Promise<void> {
  const songMs = (stations / highestRate) * 1_000
  // Stations of a group are spread evenly, because the ends of their first songs are in order of their ids.
  const delaysMs = Array.from({ length: stations }, (_, index) => (index % rates.length) * levelMs(songMs))
  const measured: ReadonlyMap<number, number>[] = []
  for (let run = 0; run < runs; run++)
    measured.push(await withStations({ stations, songMs, delaysMs }, measureRate))
  const highest = measured.map(p99 => {
    const failed = rates.findIndex(rate => !((p99.get(rate) ?? Infinity) < mostLateMs))
    return (failed === -1 ? rates.at(-1) : rates[failed - 1]) ?? 0
  })
  printTable(
    ['stations', `highest steps/s with p99 < ${mostLateMs} ms`, ...rates.map(rate => `p99 at ${rate}/s`)],
    [
      [
        formatNumber(stations),
        formatSpread(highest),
        ...rates.map(rate => formatSpread(measured.map(p99 => p99.get(rate) ?? Number.NaN)))
      ]
    ]
  )
}

/** Returns the p99 of the lateness by rate, until the program is overloaded. */
async function measureRate({ sql, listener, songMs, firstDueMs }: RunningStations) {
  const p99 = new Map<number, number>()
  for (const [index, rate] of rates.entries()) {
    const fromMs = firstDueMs + index * levelMs(songMs) + warmUpMs(songMs)
    const toMs = firstDueMs + (index + 1) * levelMs(songMs)
    await wait(toMs - Date.now() + overloadedMs)
    const { count, lateness } = await readSteps(sql, listener, fromMs, toMs)
    const scheduled = (rate * (toMs - fromMs)) / 1_000
    // Steps that have not arrived are late.
    const lateMs = count < 0.98 * scheduled ? Infinity : quantile(lateness, 0.99)
    console.log(`${rate}/s: ${count} of ${scheduled} steps, p99 ${formatNumber(lateMs)} ms`)
    p99.set(rate, lateMs)
    if (lateMs > overloadedMs) break
  }
  return p99
}

/**
 * Stations load their libraries when they begin, and play a song more before they count. The first steps of a process
 * are slow.
 */
const warmUpMs = (songMs: number) => Math.max(2 * songMs, 10_000)

/** How long each rate lasts. */
const levelMs = (songMs: number) => warmUpMs(songMs) + seconds * 1_000

interface RunningStations {
  readonly pid: number
  readonly sql: postgres.Sql
  readonly listener: Listener
  readonly songMs: number
  /** When the first song ends. */
  readonly firstDueMs: number
}

interface StationShape {
  readonly stations: number
  readonly songMs: number
  /** How much later each station begins to play; not at all by default. */
  readonly delaysMs?: readonly number[]
  readonly port?: number
  readonly program?: ProgramOptions
}

/** Starts the program with stations that play, and subscribes to a sample of them. */
async function withStations<Result>(
  shape: StationShape,
  measure: (running: RunningStations) => Promise<Result>
): Promise<Result> {
  const { stations, songMs, port: own = port, program: options } = shape
  const program = await startProgram(own, options)
  const sql = postgres(program.databaseUrl, { max: 2, onnotice: () => {} })
  try {
    const firstDueMs = await seedStations(sql, { ...shape, tracks, dueInMs: settleMs(stations) })
    const every = Math.max(1, stations / sampledStations)
    const sample = Array.from({ length: stations / every }, (_, index) => Math.floor(index * every) + 1)
    await wait(firstDueMs - Date.now())
    const listener = await listen(program.baseUrl, sample)
    try {
      // Autovacuum would do this within a minute. Until then, query plans are those of empty tables.
      await sql`analyze`
      return await measure({ pid: program.pid, sql, listener, songMs, firstDueMs })
    } finally {
      listener.close()
    }
  } finally {
    await sql.end()
    await program.stop()
  }
}

/** Counts the steps of a period, and returns the lateness of those in the sample, ascending. */
async function readSteps(sql: postgres.Sql, { seenAtMs }: Listener, fromMs: number, toMs: number) {
  const plays = await sql<{ id: string; startedAtMs: string }[]>`
    select id, started_at_ms as "startedAtMs" from song_history
    where started_at_ms >= ${fromMs} and started_at_ms < ${toMs}`
  const lateness = plays.flatMap(({ id, startedAtMs }) => {
    const atMs = seenAtMs.get(Number(id))
    return atMs === undefined ? [] : [atMs - Number(startedAtMs)]
  })
  return { count: plays.length, lateness: sortAscending(lateness) }
}
