import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'

import { wordsFor } from './compiled-program.ts'

/** What the processes of a test have in common: the key of secrets, and a place where folders may lie. */
export const shared = {
  SECRETS_KEY: 'ab'.repeat(32),
  STORAGE_ROOTS: `/srv,/mnt,/media,/var/lib/cuewire,/var/azuracast,${tmpdir()}`
}

/**
 * Starts the workers as a process of their own, as production does. More variables may be given. `release`:
 * the folder of another release.
 */
export function startWorkers(
  databaseUrl: string,
  redisUrl: string,
  variables: Readonly<Record<string, string>> = {},
  release?: string,
  stdout: 'inherit' | 'pipe' = 'inherit'
): ChildProcess {
  return spawn(process.execPath, wordsFor('workers/main.ts', release), {
    // Not all of ours: the test runner sets BASE_URL for itself.
    env: {
      ...shared,
      PATH: process.env['PATH'],
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'fatal',
      ...variables
    },
    // With a channel they end when this process does, however that happens.
    stdio: ['ignore', stdout, 'pipe', 'ipc']
  })
}
