import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

import { killOnExit } from './children.ts'
import { programCommand } from './program.ts'

const sampleMs = 200

/** Runs a command of a build to its end. Returns its seconds and its peak memory. Throws if it fails. */
export async function runMeasured(
  entry: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>
): Promise<{ readonly seconds: number; readonly peakMb: number }> {
  const startedMs = performance.now()
  const [command, ...words] = programCommand(entry)
  const child = spawn(command, [...words, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  killOnExit(child)
  let peakMb = 0
  const sampling = setInterval(() => (peakMb = Math.max(peakMb, readPeakMb(child.pid ?? 0))), sampleMs)
  const [code] = await once(child, 'exit')
  clearInterval(sampling)
  if (code !== 0) throw new Error(`${entry} ${args[0] ?? ''} ended with ${String(code)}`)
  return { seconds: (performance.now() - startedMs) / 1_000, peakMb }
}

/** Reads the peak memory of a process in MB; 0 after its end. */
export function readPeakMb(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_000
  } catch {
    return 0
  }
}
