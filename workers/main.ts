import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { reportReady } from '../src/runtime/children.ts'
import { openSecretsOf } from '../src/security/secrets-key.ts'
import { openServices } from '../src/services.ts'
import { runService } from '../src/shutdown.ts'
import { startAdvanceWorker } from './advance.ts'
import { startCron } from './cron.ts'
import { startHlsLog } from './hls-log.ts'
import { startPolls } from './polls.ts'
import { startRemoteLists } from './remote-lists.ts'
import { startStorage } from './storage.ts'
import { startSweep } from './sweep.ts'
import { startWebhooks } from './webhooks.ts'

await runService('workers', async ({ config, log, opened }) => {
  const services = await openServices(config, log, 'workers', 12)
  opened.defer('stores', () => services[Symbol.asyncDispose]())
  const cron = startCron(services, config)
  opened.defer('cron', () => cron.stop())
  await mkdir(config.DATA_DIR, { recursive: true })
  const sweep = startSweep(services, join(config.DATA_DIR, 'workers-alive'))
  opened.defer('sweep', () => sweep.stop())
  const secrets = await openSecretsOf(services.sql, config)
  const storage = startStorage({ ...services, config, secrets })
  opened.defer('storage', () => storage.stop())
  const remoteLists = startRemoteLists({ ...services, config })
  opened.defer('remote lists', () => remoteLists.stop())
  const { HLS_ACCESS_LOG: path, HLS_SEGMENT_SECONDS: segmentSeconds } = config
  if (path !== undefined) {
    const hlsLog = startHlsLog(services, { path, segmentMs: segmentSeconds * 1_000 })
    opened.defer('HLS log', () => hlsLog.stop())
  }
  const polls = startPolls({ ...services, config, secrets })
  opened.defer('polls', () => polls.stop())
  const webhooks = startWebhooks(services, { config, secrets, redisPlace: services.redisPlace })
  opened.defer('web hooks', () => webhooks.stop())
  const advances = startAdvanceWorker(services, services.redisPlace)
  opened.defer('advance worker', () => advances.close())
  reportReady(log)
})
