import { describeError } from '../../platform/runtime/store-errors.ts'
import { runTasks } from '../../platform/runtime/thread-tasks.ts'
import { openSql } from '../../stores/db/sql.ts'
import { simulateSchedule } from './simulate-schedule.ts'
import { budgetMs, type SimulationThread } from './simulation-task.ts'

/* The thread that `simulation-task.ts` starts for each simulation. */

runTasks<SimulationThread>(1, async ({ databaseUrl, ...request }) => {
  const sql = openSql(databaseUrl, { max: 1, name: 'simulation' })
  try {
    return { body: await simulateSchedule(sql, request, budgetMs) }
  } catch (error) {
    return { failure: describeError(error) }
  } finally {
    await sql.end({ timeout: 1 })
  }
})
