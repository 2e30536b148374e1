import { runInOwnThread } from '../../platform/runtime/thread-tasks.ts'
import type { SimulationRequest } from './simulate-schedule.ts'

/** The input of the thread in `simulation-thread.ts`, which has a connection of its own. */
export interface SimulationTask extends SimulationRequest {
  readonly databaseUrl: string
}

/** What the thread does. `body` is null for an unknown station. */
export interface SimulationThread {
  readonly task: SimulationTask
  readonly result: { readonly body: string | null } | { readonly failure: string }
}

/** Time limit of the simulated plays, without reading the station and measuring. */
export const simulationBudgetMs = 6_000

const file = 'src/api/playlists/simulation-thread.js'

/**
 * Simulates in a thread: a station with 50,000 songs takes seconds, and reading them alone would block the
 * event loop. Ends the thread when `signal` is aborted, and rejects with its reason.
 */
export async function runSimulationTask(task: SimulationTask, signal: AbortSignal): Promise<string | null> {
  const result = await runInOwnThread<SimulationThread>(file, task, signal)
  if ('failure' in result) throw new Error(`the simulation failed: ${result.failure}`)
  return result.body
}
