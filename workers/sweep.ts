import { writeFile } from 'node:fs/promises'

import type { PlayoutServices } from '../src/playout/services.ts'
import { sweep } from '../src/playout/sweep.ts'

const periodMs = 1_000

/**
 * Sweeps every second until stopped; a sweep that takes longer delays the next one. Rewrites the file
 * `heartbeat` after each: its age tells a container's health check that the workers do their work.
 */
export function startSweep(services: PlayoutServices, heartbeat: string): { stop: () => Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  const stopping = new AbortController()
  let isFailing = false
  let differing = new Set<number>()
  const run = async () => {
    try {
      differing = await sweep(services, differing, stopping.signal)
      await writeFile(heartbeat, '')
      isFailing = false
    } catch (error) {
      if (!isFailing && !stopping.signal.aborted)
        services.log.warn({ err: error }, 'sweep failed; trying again every second')
      isFailing = true
    }
    // The jitter keeps several processes from doing the same work at the same moment.
    if (!stopping.signal.aborted)
      timer = setTimeout(() => void loop(), periodMs * (0.8 + Math.random() * 0.4))
  }
  let running: Promise<void>
  const loop = () => {
    running = run()
    return running
  }
  running = loop()
  return {
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      await running
    }
  }
}
