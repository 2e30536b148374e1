import { parentPort, workerData } from 'node:worker_threads'

import { reasonOf } from '../../platform/runtime/store-errors.ts'
import { openSql } from '../../stores/db/sql.ts'
import { simulateSchedule } from './simulate-schedule.ts'
import { budgetMs, type SimulationTask, type SimulationTaskResult } from './simulation-task.ts'

/** Runs one simulation in a thread that `simulation-task.ts` starts. */
async function run({ databaseUrl, ...request }: SimulationTask): Promise<SimulationTaskResult> {
  const sql = openSql(databaseUrl, { max: 1, name: 'simulation' })
  try {
    return { body: await simulateSchedule(sql, request, budgetMs) }
  } catch (error) {
    return { failure: reasonOf(error) }
  } finally {
    await sql.end({ timeout: 1 })
  }
}

parentPort?.postMessage(await run(workerData), [])
