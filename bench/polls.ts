import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { endWithUs } from './children.ts'
import { loadCore, pinned } from './pin.ts'
import { seconds } from './settings.ts'
import { sorted } from './statistics.ts'

/** GETs at a constant rate for the seconds of a run; their latencies in milliseconds, sorted. */
export async function pollSteadily(
  url: string,
  options: { connections: number; rate: number }
): Promise<readonly number[]> {
  const file = fileURLToPath(new URL('poller.ts', import.meta.url))
  const numbers = [options.connections, options.rate, seconds].map(String)
  const [command, ...args] = pinned(loadCore, [process.execPath, '--import', 'tsx', file, url, ...numbers])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  endWithUs(child)
  const deadline = AbortSignal.timeout((seconds + 30) * 1_000)
  const ended = once(child, 'exit', { signal: deadline })
  const told = once(child, 'message', { signal: deadline })
  const [first] = await Promise.race([told, ended])
  if (!Array.isArray(first)) throw new Error(`polling ${url} ended with code ${String(first)}`)
  return sorted(first)
}
