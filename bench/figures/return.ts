import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'

import { WebSocket } from 'ws'

import { nowMs } from '../clock.ts'
import { type OnAir, startOnAir } from '../on-air.ts'
import { pin, serverCore } from '../pin.ts'
import { runs } from '../settings.ts'
import type { Answer, Marks } from '../sockets/commands.ts'
import { openReceiver, type Receiver } from '../sockets/receivers.ts'
import { number, quantile, sorted, spread } from '../statistics.ts'
import { printTable } from '../table.ts'
import { followers } from './followers.ts'
import { openServerQueries, type ServerQueries } from './server-queries.ts'

const port = 18_242
const stations = 100
/** Some songs end while the server is away. */
const songMs = 20_000
const clients = 10_000
const marks: Marks = { marker: '"offset":', isLast: true, every: 1 }
const restartMs = 30_000
const settleMs = 1_000

const stationIds = Array.from({ length: stations }, (_, index) => index + 1)

interface Measured {
  /**
   * Milliseconds from the kill to the moment the server listened again, and from there to the state of
   * clients.
   */
  readonly away: number
  readonly half: number
  readonly last: number
  /** Clients that hold the newest version. */
  readonly current: number
  readonly queries: readonly string[]
  readonly connections: number
}

/** 10,000 clients whose server was killed come back at once. */
export async function measureReturn(): Promise<void> {
  const program = await startOnAir(port, { stations, songMs })
  const receiver = openReceiver()
  const queries = openServerQueries(program.databaseUrl)
  const measured: Measured[] = []
  try {
    await receiver.ask({ type: 'open', target: followers(program, stationIds), count: clients })
    for (let run = 0; run < runs; run++) measured.push(await measure(program, receiver, queries))
  } finally {
    await queries.close()
    await receiver.close()
    await program.stop()
  }
  report(measured)
}

async function measure(program: OnAir, receiver: Receiver, queries: ServerQueries): Promise<Measured> {
  await wait(settleMs)
  const killed = program.serverPid()
  const returning = receiver.ask({ type: 'return', marks })
  const killedAtMs = nowMs()
  process.kill(killed, 'SIGKILL')
  await pinNext(program, killed)
  const { backAtMs } = await returning
  const answer = await untilAllSeen(receiver)
  // The common clock against the one of Postgres.
  const found = await queries.since(Date.now() - (nowMs() - backAtMs))
  const firsts = sorted([...firstSeen(answer)].map(([, atMs]) => atMs - backAtMs))
  const newest = await readNewest(program)
  const held = newestHeld(await receiver.ask({ type: 'read' }))
  const current = [...held].filter(([client, version]) => version >= (newest[client % stations] ?? Infinity))
  return {
    away: backAtMs - killedAtMs,
    half: quantile(firsts, 0.5),
    last: firsts.length === clients ? quantile(firsts, 1) : Infinity,
    current: current.length,
    queries: found,
    connections: await queries.connections()
  }
}

/** The next server process begins on the core of its parent. */
async function pinNext(program: OnAir, killed: number): Promise<void> {
  for (const deadline = Date.now() + restartMs; Date.now() < deadline; await wait(20)) {
    const pid = serverPidOf(program)
    if (pid === null || pid === killed) continue
    pin(serverCore, pid)
    return
  }
  throw new Error('the server was not started again')
}

function serverPidOf(program: OnAir): number | null {
  try {
    return program.serverPid()
  } catch {
    return null
  }
}

async function untilAllSeen(receiver: Receiver): Promise<Answer> {
  for (const deadline = Date.now() + restartMs; ; await wait(200)) {
    const answer = await receiver.ask({ type: 'read' })
    if (firstSeen(answer).size === clients || Date.now() > deadline) return answer
  }
}

function firstSeen({ samples }: Answer): ReadonlyMap<number, number> {
  const first = new Map<number, number>()
  for (const [client, , atMs] of samples) if (!first.has(client)) first.set(client, atMs)
  return first
}

function newestHeld({ samples }: Answer): ReadonlyMap<number, number> {
  return new Map(samples.map(([client, version]) => [client, version]))
}

interface ConnectFrame {
  readonly connect: {
    readonly subs: Record<string, { publications: [{ offset: number }] } | undefined>
  }
}

/** The version of each station that a client gets who comes now. */
async function readNewest({ baseUrl }: OnAir): Promise<number[]> {
  const url = new URL('/api/live/nowplaying/websocket', baseUrl.replace(/^http/, 'ws'))
  const subs = Object.fromEntries(stationIds.map(id => [`station:${id}`, { recover: true }]))
  const socket = new WebSocket(url, { perMessageDeflate: false })
  try {
    await once(socket, 'open', { signal: AbortSignal.timeout(5_000) })
    const answered = once(socket, 'message', { signal: AbortSignal.timeout(5_000) })
    socket.send(JSON.stringify({ subs }))
    const [message]: unknown[] = await answered
    const { connect }: ConnectFrame = JSON.parse(String(message))
    // Frames that left before this one are on their way to the clients.
    await wait(settleMs)
    return stationIds.map(id => connect.subs[`station:${id}`]?.publications[0].offset ?? Infinity)
  } finally {
    socket.terminate()
  }
}

function report(measured: readonly Measured[]): void {
  console.log(
    `\n${number(clients)} clients come back at once, ${stations} stations with songs of ${songMs / 1_000} s, ${runs} runs`
  )
  const of = (field: 'away' | 'half' | 'last' | 'current') => measured.map(each => each[field])
  printTable(
    [
      'server away, ms',
      'half have the state after, ms',
      'all have it after, ms',
      'clients with the newest version',
      'queries of the server to Postgres',
      'its connections'
    ],
    [
      [
        spread(of('away')),
        spread(of('half')),
        spread(of('last')),
        spread(of('current')),
        spread(measured.map(each => each.queries.length)),
        spread(measured.map(each => each.connections))
      ]
    ]
  )
  for (const query of new Set(measured.flatMap(each => each.queries))) console.log(`  query: ${query}`)
}
