import { Worker } from 'node:worker_threads'

import { builtFile } from '../../platform/process/program-files.ts'
import type { SimulationRequest } from './simulate-schedule.ts'

/** The input of the thread in `simulation-thread.ts`, which has a connection of its own. */
export interface SimulationTask extends SimulationRequest {
  readonly databaseUrl: string
}

/** The message of the thread. `body` is null for an unknown station. */
export type SimulationTaskResult = { readonly body: string | null } | { readonly failure: string }

/** Time limit of the simulated plays, without reading the station and measuring. */
export const budgetMs = 6_000

/**
 * Simulates in a thread: a station with 50,000 songs takes seconds, and reading them alone would block the
 * event loop. Ends the thread when `signal` is aborted, and rejects with its reason.
 */
export async function runSimulationTask(task: SimulationTask, signal: AbortSignal): Promise<string | null> {
  signal.throwIfAborted()
  const thread = new Worker(builtFile('src/api/playlists/simulation-thread.js'), { workerData: task })
  try {
    const result = await new Promise<SimulationTaskResult>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      thread.once('message', resolve)
      thread.once('error', reject)
      thread.once('exit', () => reject(new Error('the simulation thread exited without a result')))
    })
    if ('failure' in result) throw new Error(`the simulation failed: ${result.failure}`)
    return result.body
  } finally {
    await thread.terminate()
  }
}
