import { createTask, validate } from 'node-cron'

export const isCronExpression = (text: string): boolean => validate(text)

/**
 * Returns a function that returns the next times of a cron expression in UTC: seconds (optional), minutes,
 * hours, ...
 */
export function openCronTimes(expression: string): (count: number) => Date[] {
  // The package only computes the times: the task is never started.
  const task = createTask(expression, () => {}, { timezone: 'UTC' })
  return count => task.getNextRuns(count)
}
