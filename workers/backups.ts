import type { Config } from '../src/config.ts'
import { findBackupStorageProblem } from '../src/library/storage/backup-storage.ts'
import { backupAgeMetric } from '../src/platform/metrics/alerts.ts'
import type { Logger } from '../src/platform/runtime/log.ts'
import { openCronTimes, repeatWork } from '../src/platform/runtime/repeat.ts'
import { readScheduledBackupAgeMs, updateMissingBackupAlert } from '../src/upkeep/archives/missing-backup.ts'
import { runScheduledBackup, type ScheduledBackupDeps } from '../src/upkeep/archives/scheduled-backup.ts'

type Deps = Omit<ScheduledBackupDeps, 'signal'> & {
  readonly log: Logger
  readonly config: Pick<Config, 'STORAGE_ROOTS'>
}

const missingMs = 60_000

/**
 * Starts scheduled backups, and warns if they cannot be written. All processes run it; one of them writes each backup.
 */
export function startBackupWorker({ log, ...deps }: Deps, expression: string) {
  let isStopping = false
  const check = async () => {
    const reason = await findBackupStorageProblem(deps.sql, deps.config)
    if (reason !== null && !isStopping)
      log.warn(
        { reason, storage: deps.config.BACKUP_STORAGE },
        'scheduled backups cannot be written: BACKUP_STORAGE cannot be used'
      )
  }
  // A later backup reports what this could not find out.
  void check().catch(() => {})
  const run = async (signal: AbortSignal, dueAt: Date) => {
    try {
      const name = await runScheduledBackup({ ...deps, signal }, dueAt)
      if (name !== null) log.info({ file: name }, 'backup written')
    } catch (error) {
      // Each one is logged: the next may be a day later.
      if (!signal.aborted) log.error({ err: error }, 'the scheduled backup failed')
    }
  }
  const backups = repeatWork(run, { at: expression, jitterMs: 0, log, failure: 'backups failed' })
  const schedule = { expression, nextTimes: openCronTimes(expression) }
  const missing = repeatWork(() => updateMissingBackupAlert(deps.sql, schedule), {
    pauseMs: missingMs,
    log,
    failure: 'looking for missing backups failed'
  })
  backupAgeMetric.read = async () => {
    const ageMs = await readScheduledBackupAgeMs(deps.sql)
    return ageMs === null ? [] : [[{}, ageMs / 1_000]]
  }
  return {
    stop: async () => {
      isStopping = true
      await Promise.all([missing.stop(), backups.stop()])
    }
  }
}
