import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

import { WebSocket } from 'ws'

import { nowMs } from '../clock.ts'
import { type ProgramOnAir, startProgramOnAir } from '../on-air.ts'
import { pinProcess, serverCore } from '../pin.ts'
import { runs } from '../settings.ts'
import type { ReceiverReport, Sampling } from '../sockets/commands.ts'
import { openReceiver, type Receiver } from '../sockets/receivers.ts'
import { formatNumber, formatSpread, quantile, sortAscending } from '../statistics.ts'
import { printTable } from '../table.ts'
import { openServerQueries, type ServerQueries } from './server-queries.ts'
import { subscriberTarget } from './subscribers.ts'

const port = 18_242
const stations = 100
/** Short enough that some songs end while the server is down. */
const songMs = 20_000
const clients = 10_000
const sampling: Sampling = { marker: '"offset":', isLast: true, every: 1 }
const restartMs = 30_000
const settleMs = 1_000

const stationIds = Array.from({ length: stations }, (_, index) => index + 1)

interface ReconnectResult {
  /** Milliseconds from the kill until the server listened again. */
  readonly downMs: number
  /** Milliseconds from then until half of the clients, and all of them, had received a state. */
  readonly halfMs: number
  readonly allMs: number
  /** Number of clients with the newest state. */
  readonly current: number
  readonly queries: readonly string[]
  readonly connections: number
}

/** Measures 10,000 clients that reconnect at once after their server was killed. */
export async function measureReconnect(): Promise<void> {
  const program = await startProgramOnAir(port, { stations, songMs })
  const receiver = openReceiver()
  const queries = openServerQueries(program.databaseUrl)
  const measured: ReconnectResult[] = []
  try {
    await receiver.run({ type: 'open', target: subscriberTarget(program, stationIds), count: clients })
    for (let run = 0; run < runs; run++) measured.push(await measure(program, receiver, queries))
  } finally {
    await queries.close()
    await receiver.close()
    await program.stop()
  }
  report(measured)
}

async function measure(
  program: ProgramOnAir,
  receiver: Receiver,
  queries: ServerQueries
): Promise<ReconnectResult> {
  await wait(settleMs)
  const killed = program.serverPid()
  const reconnecting = receiver.run({ type: 'reconnect', sampling })
  const killedAtMs = nowMs()
  process.kill(killed, 'SIGKILL')
  await pinRestarted(program, killed)
  const { listeningAtMs } = await reconnecting
  const received = await waitForAllClients(receiver)
  // Converted to the clock of Postgres.
  const foundQueries = await queries.readSince(Date.now() - (nowMs() - listeningAtMs))
  const latencies = sortAscending([...findFirstArrivals(received)].map(([, atMs]) => atMs - listeningAtMs))
  const newest = await readNewest(program)
  const newestOfClients = findNewestOffsets(await receiver.run({ type: 'read' }))
  const current = [...newestOfClients].filter(
    ([client, offset]) => offset >= (newest[client % stations] ?? Infinity)
  )
  return {
    downMs: listeningAtMs - killedAtMs,
    halfMs: quantile(latencies, 0.5),
    allMs: latencies.length === clients ? quantile(latencies, 1) : Infinity,
    current: current.length,
    queries: foundQueries,
    connections: await queries.countConnections()
  }
}

/** Waits for the restarted server and pins it to the server core; it inherits the core of its parent. */
async function pinRestarted(program: ProgramOnAir, killed: number): Promise<void> {
  for (const deadline = Date.now() + restartMs; Date.now() < deadline; await wait(20)) {
    const pid = findServerPid(program)
    if (pid === null || pid === killed) continue
    pinProcess(serverCore, pid)
    return
  }
  throw new Error(`the server was not restarted within ${restartMs} ms`)
}

function findServerPid(program: ProgramOnAir): number | null {
  try {
    return program.serverPid()
  } catch {
    return null
  }
}

async function waitForAllClients(receiver: Receiver): Promise<ReceiverReport> {
  for (const deadline = Date.now() + restartMs; ; await wait(200)) {
    const received = await receiver.run({ type: 'read' })
    if (findFirstArrivals(received).size === clients || Date.now() > deadline) return received
  }
}

function findFirstArrivals({ samples }: ReceiverReport): ReadonlyMap<number, number> {
  const first = new Map<number, number>()
  for (const [client, , atMs] of samples) if (!first.has(client)) first.set(client, atMs)
  return first
}

function findNewestOffsets({ samples }: ReceiverReport): ReadonlyMap<number, number> {
  return new Map(samples.map(([client, offset]) => [client, offset]))
}

interface ConnectFrame {
  readonly connect: {
    readonly subs: Record<string, { publications: [{ offset: number }] } | undefined>
  }
}

/** Returns the offset of each station that a new client receives. */
async function readNewest({ baseUrl }: ProgramOnAir): Promise<number[]> {
  const url = new URL('/api/live/nowplaying/websocket', baseUrl.replace(/^http/, 'ws'))
  const subs = Object.fromEntries(stationIds.map(id => [`station:${id}`, { recover: true }]))
  const socket = new WebSocket(url, { perMessageDeflate: false })
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(5_000) })
    const received = once(socket, 'message', { signal: AbortSignal.timeout(5_000) })
    socket.send(JSON.stringify({ subs }))
    const [message]: unknown[] = await received
    const { connect }: ConnectFrame = JSON.parse(String(message))
    // Frames that were sent before this one may not have reached the clients yet.
    await wait(settleMs)
    return stationIds.map(id => connect.subs[`station:${id}`]?.publications[0].offset ?? Infinity)
  } finally {
    socket.terminate()
  }
}

function report(measured: readonly ReconnectResult[]): void {
  console.log(
    `\n${formatNumber(clients)} clients reconnect at once, ${stations} stations with songs of ${songMs / 1_000} s, ${runs} runs`
  )
  const of = (field: 'downMs' | 'halfMs' | 'allMs' | 'current') => measured.map(each => each[field])
  printTable(
    [
      'server down, ms',
      '50 % of the clients received a state after, ms',
      'all clients received a state after, ms',
      'clients with the newest state',
      'queries of the server to Postgres',
      'connections of the server to Postgres'
    ],
    [
      [
        formatSpread(of('downMs')),
        formatSpread(of('halfMs')),
        formatSpread(of('allMs')),
        formatSpread(of('current')),
        formatSpread(measured.map(each => each.queries.length)),
        formatSpread(measured.map(each => each.connections))
      ]
    ]
  )
  for (const query of new Set(measured.flatMap(each => each.queries))) console.log(`  query: ${query}`)
}
