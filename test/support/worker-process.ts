import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'

import { wordsFor } from './compiled-program.ts'

/** Variables that all processes of a test share: the secrets key, and allowed folders. */
export const shared = {
  SECRETS_KEY: 'ab'.repeat(32),
  STORAGE_ROOTS: `/srv,/mnt,/media,/var/lib/cuewire,/var/azuracast,${tmpdir()}`
}

/**
 * Starts the workers in a separate process, as in production, with additional variables. `release` is the
 * folder of another release.
 */
export function startWorkers(
  databaseUrl: string,
  redisUrl: string,
  variables: Readonly<Record<string, string>> = {},
  release?: string,
  stdout: 'inherit' | 'pipe' = 'inherit'
): ChildProcess {
  return spawn(process.execPath, wordsFor('workers/main.ts', release), {
    // Without our variables, because the test runner sets BASE_URL.
    env: {
      ...shared,
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'fatal',
      ...variables
    },
    // With an IPC channel they end when this process ends for any reason.
    stdio: ['ignore', stdout, 'pipe', 'ipc']
  })
}
