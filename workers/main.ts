import { parseConfig } from '../src/config.ts'
import { startAdvances } from '../src/engine/due-advances.ts'
import { registerJobMetrics } from '../src/engine/job-status.ts'
import { openStorageLocation } from '../src/library/uploads/media-store.ts'
import { warnOfMistypedVariables } from '../src/mistyped-variables.ts'
import { exportMetrics } from '../src/platform/metrics/exporter.ts'
import { reportReady } from '../src/platform/process/children.ts'
import { assertDataDirIsWritable } from '../src/platform/process/create-data-dir.ts'
import { runService } from '../src/platform/process/service.ts'
import { startTracing } from '../src/platform/tracing/tracing.ts'
import { noCountryFinder, openCountryDatabase } from '../src/radio/countries.ts'
import { openListenerDescriber } from '../src/radio/listener-details.ts'
import { openServices } from '../src/services.ts'
import { openDatabaseSecrets } from '../src/stores/secrets/secrets-key.ts'
import { resolveBackupAlerts } from '../src/upkeep/archives/missing-backup.ts'
import { registerBacklogMetrics } from '../src/webhooks/deliveries/backlog.ts'
import { startBackupWorker } from './backups.ts'
import { startWorkerTasks } from './task.ts'
import { workerTasks } from './tasks.ts'
import { startWebhookWorker } from './webhooks.ts'

await runService('workers', parseConfig, async ({ config, log, outages, opened }) => {
  warnOfMistypedVariables(log)
  opened.defer('traces', await startTracing('workers', config, log))
  const services = await openServices(config, { log, outages }, 'workers')
  opened.defer('stores', () => services[Symbol.asyncDispose]())
  opened.defer('metrics', await exportMetrics('workers', config, log))
  await assertDataDirIsWritable(config.DATA_DIR)
  // Before anything starts songs: with another key, the process ends.
  const secrets = await openDatabaseSecrets(services.sql, config)
  if (config.METRICS_PORT !== undefined) {
    registerJobMetrics(services)
    registerBacklogMetrics(services.sql)
  }
  const stopLater = (name: string, { stop }: { stop: () => Promise<void> }) => opened.defer(name, stop)
  const { GEO_DATABASE: geoDatabase } = config
  const geo = geoDatabase === undefined ? null : await openCountryDatabase(geoDatabase, log)
  if (geo) opened.defer('database of countries', geo.stop)
  const describeListener = openListenerDescriber(geo ?? noCountryFinder)
  stopLater('tasks', startWorkerTasks(workerTasks, { ...services, config, secrets, describeListener }))
  const { BACKUP_SCHEDULE: backupSchedule, BACKUP_STORAGE: backupStorage } = config
  if (backupSchedule !== undefined && backupStorage !== undefined)
    stopLater(
      'backups',
      startBackupWorker(
        {
          ...services,
          config: { ...config, BACKUP_STORAGE: backupStorage },
          env: process.env,
          openFiles: async id => (await openStorageLocation({ ...services, config, secrets }, id)).files
        },
        backupSchedule
      )
    )
  else await resolveBackupAlerts(services.sql)
  const webhooks = startWebhookWorker(services, { config, secrets, redisPlace: services.redisPlace })
  stopLater('web hooks', webhooks)
  const { dispatchDeliveries } = webhooks
  stopLater('advance worker', startAdvances({ ...services, dispatchDeliveries }, services.slowLog))
  await services.markReady()
  reportReady(log)
})
