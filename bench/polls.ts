import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { killOnExit } from './children.ts'
import { loadCore, pinCommand } from './pin.ts'
import { seconds } from './settings.ts'
import { sortAscending } from './statistics.ts'

/** Sends GET requests at a constant rate for one run. Returns the latencies in milliseconds, ascending. */
export async function pollAtConstantRate(
  url: string,
  options: { connections: number; rate: number }
): Promise<readonly number[]> {
  const file = fileURLToPath(new URL('poller.ts', import.meta.url))
  const numericArguments = [options.connections, options.rate, seconds].map(String)
  const [command, ...args] = pinCommand(loadCore, [
    process.execPath,
    '--import',
    'tsx',
    file,
    url,
    ...numericArguments
  ])
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  killOnExit(child)
  const deadline = AbortSignal.timeout((seconds + 30) * 1_000)
  const exited = once(child, 'exit', { signal: deadline })
  const reported = once(child, 'message', { signal: deadline })
  const [first] = await Promise.race([reported, exited])
  if (!Array.isArray(first)) throw new Error(`the poller of ${url} exited with code ${String(first)}`)
  return sortAscending(first)
}
