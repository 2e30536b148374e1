import { schedule } from 'node-cron'

import { runScheduledBackup, type ScheduledBackupDeps } from '../src/backup/scheduled-backup.ts'
import type { Logger } from '../src/runtime/log.ts'

type Deps = Omit<ScheduledBackupDeps, 'signal'> & { readonly log: Logger }

/** Starts scheduled backups. All processes run it; one of them writes each backup. */
export function startBackups({ log, ...deps }: Deps, expression: string) {
  const stopping = new AbortController()
  const run = async ({ date }: { readonly date: Date }) => {
    try {
      const name = await runScheduledBackup({ ...deps, signal: stopping.signal }, date)
      if (name !== null) log.info({ name }, 'backup written')
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ err: error }, 'the scheduled backup failed')
    }
  }
  const task = schedule(expression, run, { name: 'backup', timezone: 'UTC', noOverlap: true })
  return {
    stop: async () => {
      stopping.abort()
      await task.destroy()
    }
  }
}
