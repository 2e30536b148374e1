import { writeFile } from 'node:fs/promises'

import type { PlayoutServices } from '../src/playout/services.ts'
import { sweep } from '../src/playout/sweep.ts'
import { repeat, type Repetition } from '../src/runtime/repeat.ts'

/**
 * Sweeps every second. Rewrites the file `heartbeat` after each sweep: its age tells a container's health
 * check that the workers are running.
 */
export function startSweep(services: PlayoutServices, heartbeat: string): Repetition {
  let differing = new Set<number>()
  const run = async (signal: AbortSignal) => {
    differing = await sweep(services, differing, signal)
    await writeFile(heartbeat, '')
  }
  return repeat(run, { pauseMs: 1_000, log: services.log, failure: 'sweep failed' })
}
