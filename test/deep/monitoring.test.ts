import { fileURLToPath } from 'node:url'

import { expect, inject } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { drawDashboards } from '../support/draw-dashboards.ts'
import { test as base } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { faults } from '../support/monitored-faults.ts'
import { openMonitoredProgram } from '../support/monitored-program.ts'
import { alertsFile, readAlerts, readDashboards } from '../support/operations.ts'
import { findComplaint, type Prometheus, startPrometheus } from '../support/prometheus.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startProgram } from '../support/whole-program.ts'

const window = '16s'
/** What the pictures show, which are drawn with the environment variable PICTURES. */
const pictureSeconds = 180
const within = { deadlineMs: 60_000 }
const atLeisure = { timeout: 300_000 }

// oxlint-disable-next-line no-empty-pattern
const test = base.extend('monitored', { scope: 'file' }, async ({}, { onCleanup }) => {
  const { value, close } = await openMonitoredProgram(inject('templateUrl'), window)
  onCleanup(close)
  return value
})
const monitoring = test.runIf(isDeep && whyWithout('prometheus') === null)

monitoring('promtool has no complaint about the files in ops', async () => {
  expect(await findComplaint(['rules', fileURLToPath(alertsFile)])).toBe(null)
  const config = fileURLToPath(new URL('prometheus.yml', alertsFile))
  expect(await findComplaint(['config', config])).toBe(null)
})

monitoring(
  'an alert fires while one of two server processes hangs',
  { timeout: 300_000 },
  async ({ databaseUrl, redisUrl }) => {
    await using folder = await openTempFolder()
    const [port, metricsPort] = await Promise.all([findFreePort(), findFreePort()])
    using program = startProgram({
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: folder.path,
      DEMO: 'off',
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      SERVER_PROCESSES: '2'
    })
    await using prometheus = await startPrometheus({
      targets: [`127.0.0.1:${metricsPort}`],
      pendingFor: '0s',
      window,
      // The program waits three seconds for a server.
      scrapeSeconds: 5
    })
    const responding = 'cuewire_supervised_processes{state="answering"} == 3'
    await waitFor(async () => (await prometheus.query(responding)).length > 0, {
      ...within,
      what: 'two servers and workers that answer'
    })
    await untilResolved(prometheus, [silentAlert])
    const [hanging = 0] = await program.pidsOf('/src/server.js')
    process.kill(hanging, 'SIGSTOP')
    await untilFiring(prometheus, [silentAlert])
    process.kill(hanging, 'SIGCONT')
    await untilResolved(prometheus, [silentAlert])
    program.runner.kill('SIGTERM')
    await program.ended
  }
)

monitoring(
  'promtool has no complaint about the metrics of any process',
  atLeisure,
  async ({ monitored: { metricsPorts } }) => {
    for (const port of metricsPorts) {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      expect(await findComplaint(['metrics'], text)).toBe(null)
    }
  }
)

monitoring(
  'every panel has data',
  { timeout: 900_000 },
  async ({ monitored: { prometheus, metricsPorts } }) => {
    const prepare = (expr: string) =>
      expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', window)
    for (const { name, panels } of readDashboards())
      for (const { title, targets } of panels)
        for (const { expr } of targets) {
          const what = `data of "${title}" of ${name}: ${prepare(expr)}`
          await waitFor(async () => (await prometheus.query(prepare(expr))).length > 0, { ...within, what })
        }
    if (process.env['PICTURES'] === undefined) return
    const begin = `timestamp(cuewire_build_info offset ${pictureSeconds}s)`
    await waitFor(async () => (await prometheus.query(begin)).length === metricsPorts.length, {
      deadlineMs: 2 * pictureSeconds * 1_000,
      what: 'enough data for pictures'
    })
    await drawDashboards(prometheus, pictureSeconds, prepare)
  }
)

monitoring('no alert fires without a fault', atLeisure, async ({ monitored: { prometheus } }) => {
  const all = readAlerts().map(({ alert }) => alert)
  await untilResolved(prometheus, all)
})

monitoring.for(faults.map(([alerts, begin]) => [alerts.join(', '), alerts, begin] as const))(
  'while there is a fault, its alerts fire: %s',
  atLeisure,
  async ([, alerts, begin], { monitored }) => {
    const end = await begin(monitored)
    await untilFiring(monitored.prometheus, alerts)
    await end()
    await untilResolved(monitored.prometheus, alerts)
  }
)

monitoring('each alert has a fault that causes it', () => {
  const all = readAlerts().map(({ alert }) => alert)
  expect([...faults.flatMap(([alerts]) => alerts), silentAlert].toSorted()).toEqual(all.toSorted())
})

const silentAlert = 'CuewireProcessSilent'

async function untilFiring(prometheus: Prometheus, alerts: readonly string[]): Promise<void> {
  const missing = new Set(alerts)
  await waitFor(
    async () => {
      for (const alert of await prometheus.firing()) missing.delete(alert)
      if (missing.size > 0) throw new Error(`not fired: ${[...missing].join(', ')}`)
      return true
    },
    { ...within, what: `${alerts.join(', ')} to fire` }
  )
}

async function untilResolved(prometheus: Prometheus, alerts: readonly string[]): Promise<void> {
  await waitFor(
    async () => {
      const firing = await prometheus.firing()
      return alerts.every(alert => !firing.has(alert))
    },
    { ...within, what: `${alerts.join(', ')} to be resolved` }
  )
}
