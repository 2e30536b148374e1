import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

import { loadCore, pinCommand } from './pin.ts'

const run = promisify(execFile)

export interface WrkResult {
  readonly requests: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

/**
 * Runs wrk, a closed loop: each connection sends its next request when it has received the response. Throws
 * if a response has an error status or a socket fails.
 */
export async function runWrk(
  wrk: string,
  url: string,
  options: { connections: number; seconds: number }
): Promise<WrkResult> {
  const { connections, seconds } = options
  const [command, ...args] = pinCommand(loadCore, [
    wrk,
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    url
  ])
  const { stdout } = await run(command, args, { timeout: (seconds + 30) * 1_000 })
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${url}: ${stdout}`)
  return {
    requests: Number(/(\d+) requests in/.exec(stdout)?.[1]),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p50: milliseconds(/50%\s+(\S+)/.exec(stdout)?.[1]),
    p99: milliseconds(/99%\s+(\S+)/.exec(stdout)?.[1])
  }
}

function milliseconds(text = ''): number {
  const [, value, unit] = /^([\d.]+)(us|ms|s|m)$/.exec(text) ?? []
  const factor = { us: 0.001, ms: 1, s: 1_000, m: 60_000 }[unit ?? ''] ?? Number.NaN
  return Number(value) * factor
}
