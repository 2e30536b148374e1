import { describeError } from '../../platform/runtime/store-errors.ts'
import { runThreadTasks } from '../../platform/runtime/thread-tasks.ts'
import { openSql } from '../../stores/db/sql.ts'
import { simulateSchedule } from './simulate-schedule.ts'
import { simulationBudgetMs, type SimulationThread } from './simulation-task.ts'

/* The thread that `simulation-task.ts` starts for each simulation. */

runThreadTasks<SimulationThread>(1, async ({ databaseUrl, ...request }) => {
  const sql = openSql(databaseUrl, { max: 1, name: 'simulation' })
  try {
    return { body: await simulateSchedule(sql, request, simulationBudgetMs) }
  } catch (error) {
    return { failure: describeError(error) }
  } finally {
    await sql.end({ timeout: 1 })
  }
})
