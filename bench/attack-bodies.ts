import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { apiRoutes } from '../src/api/routes.ts'
import { isObjectOrArray } from '../src/model/fields/schema-alternatives.ts'
import { killOnExit } from './children.ts'
import { costlyBodies, type CostlyBody } from './costly-bodies.ts'
import type { Program } from './program.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

/** The longest that a request may wait because of another one. */
const maxStallMs = 50
/** What a route does after its last response counts as well. */
const afterwardsMs = 100

type Route = (typeof apiRoutes)[number]
export type Dialect = CostlyBody['dialect']

interface Sent {
  readonly body: string
  readonly bytes: number
  readonly status: number
  readonly startMs: number
  readonly tookMs: number
}

/** A time in which the event loop of the server had no pause (`stall-probe.mjs`). */
interface Stall {
  readonly endMs: number
  readonly cpuMs: number
  readonly passedMs: number
}

interface Result {
  readonly route: string
  readonly bodies: number
  /** The body during which the server was busy for the longest time. */
  readonly worst: Sent
  readonly stall: Stall
  /** The longest wait of a poll during all of them. */
  readonly pollMs: number
}

interface BodyAttack {
  readonly station: number
  readonly keys: Readonly<Record<Dialect, string>>
  readonly stallFolder: string
}

/**
 * Sends the largest bodies of the costliest shapes to every route that takes a body, one after the other, while another
 * client polls now playing. Each is sent once, to a server that was just started, since the first use of a function
 * takes the longest. Returns whether the event loop of the server never had 50 ms of CPU time without a pause: on a
 * busy machine polls wait for the processor as well.
 */
export async function attackWithBodies(program: Program, attack: BodyAttack): Promise<boolean> {
  const poller = await startPoller(`${program.baseUrl}/api/nowplaying/${attack.station}`)
  const drainStalls = openStalls(join(attack.stallFolder, String(program.serverPid())))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const chosen = process.env['ROUTES'] ?? ''
  const results: Result[] = []
  try {
    for (const route of apiRoutes) {
      const name = `${route.method} ${route.path}`
      if ((route.method !== 'POST' && route.method !== 'PUT') || !name.includes(chosen)) continue
      drainStalls()
      await poller.drainLongestMs()
      const sent = await sendBodies(route, agent, program, attack)
      await wait(afterwardsMs)
      const pollMs = await poller.drainLongestMs()
      for (const stall of drainStalls()) {
        // Of a body and what it leaves behind.
        const cause = sent.findLast(({ startMs }) => startMs < stall.endMs)
        if (!cause) continue
        results.push({ route: name, bodies: 0, worst: cause, stall, pollMs })
        if (stall.cpuMs > maxStallMs) console.log(describe(name, cause, stall))
      }
      const [first] = sent
      const stall = { endMs: 0, cpuMs: 0, passedMs: 0 }
      if (first) results.push({ route: name, bodies: sent.length, worst: first, stall, pollMs })
    }
  } finally {
    agent.destroy()
    poller.stop()
  }
  return report(results)
}

const describe = (route: string, { body, status }: Sent, { cpuMs, passedMs }: Stall) =>
  `${route}: ${body}: ${status}: ${formatNumber(cpuMs)} ms of CPU in ${formatNumber(passedMs)} ms`

async function sendBodies(
  route: Route,
  agent: Agent,
  program: Program,
  { station, keys }: BodyAttack
): Promise<Sent[]> {
  const { baseUrl } = program
  const url = `${baseUrl}${fillPath(route.path, station)}`
  const isPlayout = route.access === 'playout key'
  const playoutKey = isPlayout ? await replacePlayoutKey(baseUrl, station, keys.documented) : ''
  const sent: Sent[] = []
  for (const body of costlyBodies(route)) {
    const headers = {
      'content-type': body.contentType,
      'content-length': body.bytes.length,
      ...(isPlayout ? { 'x-liquidsoap-api-key': playoutKey } : { 'x-api-key': keys[body.dialect] }),
      'x-requested-with': 'attack',
      'x-forwarded-for': nextAddress()
    }
    const startMs = performance.timeOrigin + performance.now()
    const status = await send(url, { agent, method: route.method, headers, bytes: body.bytes })
    const tookMs = performance.timeOrigin + performance.now() - startMs
    sent.push({ body: body.name, bytes: body.bytes.length, status, startMs, tookMs })
  }
  return sent
}

const fillPath = (path: string, station: number) =>
  path
    .replace(':station_id', String(station))
    .replace(/:(\w+)/g, (_, name: string) => (name === 'asset_type' ? 'background' : '1'))

/** Limits per address would refuse bodies before they are read. */
let addresses = 0
function nextAddress(): string {
  addresses += 1
  return `198.18.${Math.floor(addresses / 250) % 250}.${addresses % 250}`
}

async function replacePlayoutKey(baseUrl: string, station: number, key: string): Promise<string> {
  const response = await fetch(`${baseUrl}/api/station/${station}/playout-key`, {
    method: 'POST',
    headers: { 'X-API-Key': key }
  })
  const replaced: unknown = await response.json()
  return isObjectOrArray(replaced) ? String(replaced['playout_key']) : ''
}

interface SendOptions {
  readonly agent: Agent
  readonly method: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly bytes: Buffer
}

/** Sends a body, again after a limit on the rate. Returns the status; 0 if the connection was closed. */
async function send(url: string, { agent, method, headers, bytes }: SendOptions): Promise<number> {
  for (;;) {
    const { status, retryAfterSeconds } = await new Promise<{ status: number; retryAfterSeconds: number }>(
      resolve => {
        const closed = () => resolve({ status: 0, retryAfterSeconds: 0 })
        const sent = request(url, { agent, method, headers, timeout: 60_000 }, response => {
          response.resume()
          const after = Number(response.headers['retry-after'] ?? 0)
          response.once('end', () => resolve({ status: response.statusCode ?? 0, retryAfterSeconds: after }))
          response.once('error', closed)
        })
        sent.once('timeout', () => sent.destroy())
        sent.once('error', closed)
        sent.end(bytes)
      }
    )
    if (status !== 429 || retryAfterSeconds > 5) return status
    await wait(retryAfterSeconds * 1_000)
  }
}

/** Starts the other client in a process of its own. */
async function startPoller(url: string) {
  const file = fileURLToPath(new URL('waiting-poller.ts', import.meta.url))
  const poller = spawn(process.execPath, ['--import', 'tsx', file, JSON.stringify({ url })], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  killOnExit(poller)
  await once(poller, 'message')
  return {
    /** The longest wait since the last call. */
    drainLongestMs: async (): Promise<number> => {
      const response = once(poller, 'message')
      poller.send('take')
      const [longestMs] = await response
      return longestMs
    },
    stop: () => void poller.kill()
  }
}

/** Returns a function that returns the stalls since its last call. */
function openStalls(file: string) {
  let seen = 0
  return (): Stall[] => {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
    const lines = text.slice(seen).split('\n').slice(0, -1)
    seen = text.length
    return lines.map(line => {
      const [endMs = 0, cpuMs = 0, passedMs = 0] = line.split(' ').map(Number)
      return { endMs, cpuMs, passedMs }
    })
  }
}

function report(results: readonly Result[]): boolean {
  const byRoute = new Map<string, Result>()
  for (const each of results) {
    const other = byRoute.get(each.route)
    const worst = other && other.stall.cpuMs > each.stall.cpuMs ? other : each
    byRoute.set(each.route, { ...worst, bodies: (other?.bodies ?? 0) + each.bodies })
  }
  const ordered = [...byRoute.values()].toSorted((a, b) => b.stall.cpuMs - a.stall.cpuMs)
  const rows = ordered.map(({ route, bodies, worst, stall, pollMs }) => [
    route,
    String(bodies),
    worst.body,
    formatNumber(worst.bytes / 1_024),
    String(worst.status),
    formatNumber(worst.tookMs),
    formatNumber(stall.cpuMs, 1),
    formatNumber(stall.passedMs, 1),
    formatNumber(pollMs, 1)
  ])
  const columns = ['route', 'bodies', 'worst body', 'KiB', 'status', 'answered after ms']
  printTable([...columns, 'server busy, ms of CPU', 'in ms', 'a poll waited, ms'], rows)
  const slow = ordered.filter(({ stall }) => stall.cpuMs > maxStallMs)
  const bodies = ordered.reduce((sum, each) => sum + each.bodies, 0)
  console.log(
    slow.length === 0
      ? `No request kept the server busy for more than ${maxStallMs} ms (${bodies} bodies, ${ordered.length} routes).`
      : `FAILED: ${slow.length} of ${ordered.length} routes kept the server busy for more than ${maxStallMs} ms.`
  )
  return slow.length === 0
}
