import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { loadCore, pinCommand } from './pin.ts'
import { findTool } from './tools.ts'

/**
 * Runs a script of `bench/k6` on the load core; the script prints its results. Returns the exit code of k6
 * (99 if a threshold was crossed), or null if k6 is not installed.
 */
export async function runK6(
  script: string,
  env: Readonly<Record<string, string>>,
  { isPinned = true } = {}
): Promise<number | null> {
  const k6 = findTool('k6', `k6/${script}`)
  if (k6 === null) return null
  const path = fileURLToPath(new URL(`k6/${script}`, import.meta.url))
  const k6Command: [string, ...string[]] = [
    k6,
    'run',
    '--quiet',
    '--log-output',
    'file=/dev/stderr,level=error',
    path
  ]
  const [command, ...args] = isPinned ? pinCommand(loadCore, k6Command) : k6Command
  const offline = { K6_NO_USAGE_REPORT: 'true', K6_AUTO_EXTENSION_RESOLUTION: 'false' }
  const child = spawn(command, args, {
    env: { ...process.env, ...offline, ...env },
    stdio: ['ignore', 'inherit', 'inherit']
  })
  const [code] = await once(child, 'exit')
  return Number(code ?? 1)
}
