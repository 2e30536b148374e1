import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { loadCore, pinned } from './pin.ts'
import { findTool } from './tools.ts'

/**
 * Runs a script of `bench/k6`, which prints its own results, on the core of the load. Gives k6's exit code
 * (99 if a threshold was missed), and null if there is no k6.
 */
export async function runK6(
  script: string,
  env: Readonly<Record<string, string>>,
  { isPinned = true } = {}
): Promise<number | null> {
  const k6 = findTool('k6', `k6/${script}`)
  if (k6 === null) return null
  const path = fileURLToPath(new URL(`k6/${script}`, import.meta.url))
  const words: [string, ...string[]] = [
    k6,
    'run',
    '--quiet',
    '--log-output',
    'file=/dev/stderr,level=error',
    path
  ]
  const [command, ...args] = isPinned ? pinned(loadCore, words) : words
  const offline = { K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' }
  const child = spawn(command, args, {
    env: { ...process.env, ...offline, ...env },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  const [code] = await once(child, 'exit')
  return Number(code ?? 1)
}
