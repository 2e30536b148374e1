import { parseConfig } from '../src/config.ts'
import { startAdvances } from '../src/engine/due-advances.ts'
import { measureJobs } from '../src/engine/job-status.ts'
import { openStorageLocation } from '../src/library/uploads/media-store.ts'
import { warnOfMistypedVariables } from '../src/mistyped-variables.ts'
import { exportMetrics } from '../src/platform/metrics/exporter.ts'
import { reportReady } from '../src/platform/process/children.ts'
import { assertDataDirIsWritable } from '../src/platform/process/create-data-dir.ts'
import { runService } from '../src/platform/process/service.ts'
import { startTracing } from '../src/platform/tracing/tracing.ts'
import { noCountries, openCountries } from '../src/radio/countries.ts'
import { openListenerDescriber } from '../src/radio/listener-details.ts'
import { openServices } from '../src/services.ts'
import { openDatabaseSecrets } from '../src/stores/secrets/secrets-key.ts'
import { forgetSchedule } from '../src/upkeep/archives/missing-backup.ts'
import { measureBacklog } from '../src/webhooks/deliveries/backlog.ts'
import { startBackups } from './backups.ts'
import { startTasks } from './task.ts'
import { tasks } from './tasks.ts'
import { startWebhooks } from './webhooks.ts'

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
    measureJobs(services)
    measureBacklog(services.sql)
  }
  const stopLater = (name: string, { stop }: { stop: () => Promise<void> }) => opened.defer(name, stop)
  const { GEO_DATABASE: geoDatabase } = config
  const geo = geoDatabase === undefined ? null : await openCountries(geoDatabase, log)
  if (geo) opened.defer('database of countries', geo.stop)
  const describeListener = openListenerDescriber(geo ?? noCountries)
  stopLater('tasks', startTasks(tasks, { ...services, config, secrets, describeListener }))
  const { BACKUP_SCHEDULE: backupSchedule, BACKUP_STORAGE: backupStorage } = config
  if (backupSchedule !== undefined && backupStorage !== undefined)
    stopLater(
      'backups',
      startBackups(
        {
          ...services,
          config: { ...config, BACKUP_STORAGE: backupStorage },
          env: process.env,
          openFiles: async id => (await openStorageLocation({ ...services, config, secrets }, id)).files
        },
        backupSchedule
      )
    )
  else await forgetSchedule(services.sql)
  const webhooks = startWebhooks(services, { config, secrets, redisPlace: services.redisPlace })
  stopLater('web hooks', webhooks)
  const { dispatchDeliveries } = webhooks
  stopLater('advance worker', startAdvances({ ...services, dispatchDeliveries }, services.slowLog))
  await services.markReady()
  reportReady(log)
})
