import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

import postgres from 'postgres'

import { nowMs } from './clock.ts'
import { readCpuByRole } from './cpu.ts'
import { drawGrowth, type GrowthPoint } from './growth.ts'
import { type Program, startProgram } from './program.ts'
import { seedStations } from './seed.ts'
import { positiveInteger, positiveIntegers, runs } from './settings.ts'
import type { Sampling } from './sockets/commands.ts'
import { openReceiver, type Receiver } from './sockets/receivers.ts'
import type { Target } from './sockets/websocket.ts'
import { formatNumber, formatSpread } from './statistics.ts'
import { printTable } from './table.ts'

const port = 18_260
const stationId = 1
const adminKey = '00000000000bec00:000000000000000000000000000bec00'
const sizes = positiveIntegers('SOCKETS', [95_000])
const processes = positiveInteger('PROCESSES', 8)
/** How long the idle sockets are measured. */
const idleSeconds = positiveInteger('SECONDS', 60)
/** The first pings and heartbeats are spread over this time. */
const settleMs = 30_000
const changeTimeoutMs = 30_000
/** The newest offset is the last one in a frame. */
const sampling: Sampling = { marker: '"offset":', isLast: true, every: 1 }

/**
 * Measures many sockets of one station on several server processes: `npm run bench -- crowd`. Servers and clients
 * share all cores. `SOCKETS` lists the numbers of sockets; `PROCESSES` and `SECONDS` change the load.
 */
export async function crowd(): Promise<void> {
  const env = { ADMIN_API_KEY: adminKey, SERVER_PROCESSES: String(processes) }
  const program = await startProgram(port, { env })
  const receivers = Array.from({ length: Math.ceil(Math.max(...sizes) / socketsPerReceiver()) }, () =>
    openReceiver({ isPinned: false })
  )
  try {
    const sql = postgres(program.databaseUrl, { max: 1, onnotice: () => {} })
    // One long song, so that nothing changes but what the benchmark changes.
    await seedStations(sql, { stations: 1, tracks: 60, songMs: 7_200_000, dueInMs: 3_000, played: 5 })
    await sql.end()
    await waitUntilShown(program)
    await wait(settleMs)
    const rows: string[][] = [['0', 'none', '-', (await measureIdle(program)).toFixed(2), '-']]
    const delays: GrowthPoint[] = []
    const cores: GrowthPoint[] = []
    for (const size of sizes)
      for (const [name, options] of subscriptions) {
        const measured = await measure(program, receivers, size, options)
        rows.push([
          formatNumber(size),
          name,
          formatNumber(measured.framesPerSecond),
          measured.cores.toFixed(2),
          `${formatSpread(measured.delays, 2)} s`
        ])
        delays.push({ name, size, values: measured.delays })
        cores.push({ name, size, values: [measured.cores] })
      }
    printTable(
      [
        'sockets',
        'subscription',
        'full frames/s, idle',
        'cores of the servers, idle',
        'change at all sockets'
      ],
      rows
    )
    const of = `sockets on ${processes} server processes`
    await drawGrowth('crowd-delay', { title: 'A change at all sockets', unit: 's', of }, delays)
    await drawGrowth('crowd-cores', { title: 'Servers while nothing changes', unit: 'cores', of }, cores)
  } finally {
    await Promise.all(receivers.map(receiver => receiver.close()))
    await program.stop()
  }
}

const subscriptions = [
  ['plain', { recover: true }],
  ['"heartbeat": 60', { recover: true, heartbeat: 60 }]
] as const

/** Leaves room for other files of a receiver process. */
function socketsPerReceiver(): number {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return Math.max(1_000, Number(limit ?? 1_024) - 1_000)
}

interface Measured {
  /** Full frames a second while nothing changes. */
  readonly framesPerSecond: number
  /** Of the servers, while nothing changes. */
  readonly cores: number
  /** Seconds until all sockets have a change, for each run. */
  readonly delays: readonly number[]
}

async function measure(
  program: Program,
  receivers: readonly Receiver[],
  sockets: number,
  options: object
): Promise<Measured> {
  await openAll(receivers, sockets, options)
  await wait(settleMs)
  await countAll(receivers)
  const cores = await measureIdle(program)
  const frames = (await readAll(receivers)).reduce((sum, report) => sum + report.frames, 0)
  const delays: number[] = []
  for (let run = 0; run < runs; run++) delays.push(await measureChange(program, receivers, sockets, run))
  await Promise.all(
    receivers.map(async receiver => receiver.run({ type: 'open', target: targetOf({}), count: 0 }))
  )
  return { framesPerSecond: frames / idleSeconds, cores, delays }
}

/** Returns the cores that the servers use. */
async function measureIdle(program: Program): Promise<number> {
  const before = readCpuByRole(program.pid)['server'] ?? 0
  await wait(idleSeconds * 1_000)
  return ((readCpuByRole(program.pid)['server'] ?? 0) - before) / idleSeconds
}

const targetOf = (options: object): Target => ({
  port,
  path: '/api/live/nowplaying/websocket',
  connectMessages: [JSON.stringify({ subs: { [`station:${stationId}`]: options } })]
})

async function openAll(receivers: readonly Receiver[], sockets: number, options: object): Promise<void> {
  const perReceiver = Math.ceil(sockets / receivers.length)
  await Promise.all(
    receivers.map(async (receiver, index) => {
      const count = Math.min(perReceiver, Math.max(0, sockets - index * perReceiver))
      await receiver.run({ type: 'open', target: targetOf(options), count })
    })
  )
}

const countAll = async (receivers: readonly Receiver[]) =>
  Promise.all(receivers.map(async receiver => receiver.run({ type: 'count', sampling })))

const readAll = async (receivers: readonly Receiver[]) =>
  Promise.all(receivers.map(async receiver => receiver.run({ type: 'read' })))

/** Changes the station, and returns the seconds from the request until the last socket has the change. */
async function measureChange(
  program: Program,
  receivers: readonly Receiver[],
  sockets: number,
  run: number
): Promise<number> {
  await countAll(receivers)
  const fromMs = nowMs()
  await reportListeners(program, run)
  for (const deadline = fromMs + changeTimeoutMs; nowMs() < deadline; await wait(500)) {
    const samples = (await readAll(receivers)).flatMap(report => report.samples)
    const newest = samples.reduce((highest, [, offset]) => Math.max(highest, offset), 0)
    const arrived = samples.filter(([, offset]) => offset === newest)
    if (arrived.length >= sockets)
      return (arrived.reduce((last, [, , atMs]) => Math.max(last, atMs), 0) - fromMs) / 1_000
  }
  throw new Error(`the change did not reach all sockets within ${changeTimeoutMs} ms`)
}

async function reportListeners({ baseUrl }: Program, total: number): Promise<void> {
  const response = await fetch(`${baseUrl}/api/station/${stationId}/listeners`, {
    method: 'PUT',
    headers: { 'X-API-Key': adminKey, 'Content-Type': 'application/json' },
    body: JSON.stringify({ total: 100_000 + total + Math.floor(Math.random() * 100_000) }),
    signal: AbortSignal.timeout(changeTimeoutMs)
  })
  if (!response.ok) throw new Error(`PUT listeners: ${response.status} ${await response.text()}`)
}

async function waitUntilShown({ baseUrl }: Program): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await wait(200)) {
    const response = await fetch(`${baseUrl}/api/nowplaying/${stationId}`, {
      signal: AbortSignal.timeout(5_000)
    })
    if (response.ok && (await response.text()).includes('"is_online":true')) return
  }
  throw new Error('the station is not on air')
}
