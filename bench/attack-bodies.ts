import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import { apiRoutes } from '../src/api/routes.ts'
import { killOnExit } from './children.ts'
import { costlyBodies, type CostlyBody } from './costly-bodies.ts'
import type { Program } from './program.ts'
import { formatNumber } from './statistics.ts'
import { printTable } from './table.ts'

/** The longest that a request may wait because of another one. */
const maxStallMs = 50

/** Since the last question. */
export interface Waits {
  readonly polls: number
  /** The longest wait of a poll. */
  readonly longestMs: number
}

interface Sent {
  readonly route: string
  readonly body: string
  readonly bytes: number
  readonly status: number
  readonly tookMs: number
  readonly waitMs: number
  /** The longest that the event loop of the server was busy without a pause. */
  readonly stallMs: number
}

/**
 * Sends the largest bodies of the costliest shapes to every route that takes a body, one after the other, while another client
 * polls now playing. Returns whether the event loop of the server never stalled for more than 50 ms of CPU time (`stall-probe.mjs`): on
 * a busy machine polls wait for the processor as well.
 */
export async function attackWithBodies(
  program: Program,
  { station, keys, stallFolder }: BodyAttack
): Promise<boolean> {
  const { baseUrl } = program
  const file = fileURLToPath(new URL('waiting-poller.ts', import.meta.url))
  const argument = JSON.stringify({ url: `${baseUrl}/api/nowplaying/${station}` })
  const poller = spawn(process.execPath, ['--import', 'tsx', file, argument], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  killOnExit(poller)
  const takeStalls = openStalls(join(stallFolder, String(program.serverPid())))
  const takeWaits = async (): Promise<Waits> => {
    const answer = once(poller, 'message')
    poller.send('take')
    const [waits] = await answer
    return waits
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const chosen = process.env['ROUTES'] ?? ''
  const sent: Sent[] = []
  try {
    await once(poller, 'message')
    for (const route of apiRoutes) {
      const name = `${route.method} ${route.path}`
      if ((route.method !== 'POST' && route.method !== 'PUT') || !name.includes(chosen)) continue
      const path = fillPath(route.path, station)
      for (const body of costlyBodies(route)) {
        await takeWaits()
        takeStalls()
        const startMs = performance.now()
        const status = await send(`${baseUrl}${path}`, {
          agent,
          method: route.method,
          key: keys[body.dialect],
          body
        })
        const tookMs = performance.now() - startMs
        // What a route does afterwards counts as well.
        await wait(100)
        const { longestMs: waitMs } = await takeWaits()
        const stallMs = Math.max(0, ...takeStalls())
        sent.push({ route: name, body: body.name, bytes: body.bytes.length, status, tookMs, waitMs, stallMs })
        if (stallMs > maxStallMs) console.log(`${name}: ${body.name}: ${status}: ${formatNumber(stallMs)} ms`)
      }
    }
  } finally {
    agent.destroy()
    poller.kill()
  }
  return report(sent)
}

interface BodyAttack {
  readonly station: number
  readonly keys: Readonly<Record<Dialect, string>>
  readonly stallFolder: string
}

/** Returns a function that returns the stalls since its last call. */
function openStalls(file: string) {
  let seen = 0
  return () => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
    const fresh = lines.slice(seen).map(Number)
    seen = lines.length
    return fresh
  }
}

export type Dialect = CostlyBody['dialect']

const fillPath = (path: string, station: number) =>
  path
    .replace(':station_id', String(station))
    .replace(/:(\w+)/g, (_, name: string) => (name === 'asset_type' ? 'background' : '1'))

interface SendOptions {
  readonly agent: Agent
  readonly method: string
  readonly key: string
  readonly body: CostlyBody
}

/** Sends a body, again after a limit on the rate. Returns the status; 0 if the connection was closed. */
async function send(url: string, { agent, method, key, body }: SendOptions): Promise<number> {
  const headers = {
    'content-type': body.contentType,
    'content-length': body.bytes.length,
    'x-api-key': key,
    'x-forwarded-for': '192.0.2.1'
  }
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
        sent.end(body.bytes)
      }
    )
    if (status !== 429 || retryAfterSeconds > 5) return status
    await wait(retryAfterSeconds * 1_000)
  }
}

function report(sent: readonly Sent[]): boolean {
  const worst = new Map<string, Sent>()
  for (const each of sent) {
    const other = worst.get(each.route)
    if (!other || other.stallMs < each.stallMs) worst.set(each.route, each)
  }
  const rows = [...worst.values()]
    .toSorted((a, b) => b.stallMs - a.stallMs)
    .map(each => [
      each.route,
      each.body,
      formatNumber(each.bytes / 1_024),
      String(each.status),
      formatNumber(each.tookMs),
      formatNumber(each.stallMs, 1),
      formatNumber(each.waitMs, 1)
    ])
  printTable(
    [
      'route',
      'worst body',
      'KiB',
      'status',
      'answered after ms',
      'server busy, ms of CPU',
      'a poll waited, ms'
    ],
    rows
  )
  const slow = [...worst.values()].filter(({ stallMs }) => stallMs > maxStallMs)
  console.log(
    slow.length === 0
      ? `No request kept the server busy for more than ${maxStallMs} ms (${sent.length} bodies, ${worst.size} routes).`
      : `FAILED: ${slow.length} of ${worst.size} routes kept the server busy for more than ${maxStallMs} ms.`
  )
  return slow.length === 0
}
