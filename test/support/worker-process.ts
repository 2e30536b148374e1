import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../../workers/main.ts', import.meta.url))

/** Starts the workers as a process of their own, as production does. */
export function startWorkers(databaseUrl: string, redisUrl: string): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', main], {
    // Not all of ours: the test runner sets BASE_URL for itself.
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, LOG_LEVEL: 'fatal' },
    stdio: ['ignore', 'inherit', 'pipe']
  })
}
