import { schedule } from 'node-cron'

import type { Config } from '../src/config.ts'
import { findBackupStorageProblem } from '../src/library/storage/backup-storage.ts'
import { backupAge } from '../src/platform/metrics/alerts.ts'
import type { Logger } from '../src/platform/runtime/log.ts'
import { repeat } from '../src/platform/runtime/repeat.ts'
import { readBackupAgeMs, updateMissingBackupAlert } from '../src/upkeep/archives/missing-backup.ts'
import { runScheduledBackup, type ScheduledBackupDeps } from '../src/upkeep/archives/scheduled-backup.ts'

type Deps = Omit<ScheduledBackupDeps, 'signal'> & {
  readonly log: Logger
  readonly config: Pick<Config, 'STORAGE_ROOTS'>
}

const missingMs = 60_000

/**
 * Starts scheduled backups, and warns if they cannot be written. All processes run it; one of them writes each backup.
 */
export function startBackups({ log, ...deps }: Deps, expression: string) {
  const stopping = new AbortController()
  const check = async () => {
    const reason = await findBackupStorageProblem(deps.sql, deps.config)
    if (reason !== null && !stopping.signal.aborted)
      log.warn(
        { reason, storage: deps.config.BACKUP_STORAGE },
        'scheduled backups cannot be written: BACKUP_STORAGE cannot be used'
      )
  }
  // A later backup reports what this could not find out.
  void check().catch(() => {})
  const run = async ({ date }: { readonly date: Date }) => {
    try {
      const name = await runScheduledBackup({ ...deps, signal: stopping.signal }, date)
      if (name !== null) log.info({ file: name }, 'backup written')
    } catch (error) {
      if (!stopping.signal.aborted) log.error({ err: error }, 'the scheduled backup failed')
    }
  }
  const task = schedule(expression, run, { name: 'backup', timezone: 'UTC', noOverlap: true })
  const missing = repeat(() => updateMissingBackupAlert(deps.sql, { expression, task }), {
    pauseMs: missingMs,
    log,
    failure: 'looking for missing backups failed'
  })
  backupAge.read = async () => {
    const ageMs = await readBackupAgeMs(deps.sql)
    return ageMs === null ? [] : [[{}, ageMs / 1_000]]
  }
  return {
    stop: async () => {
      stopping.abort()
      await missing.stop()
      await task.destroy()
    }
  }
}
