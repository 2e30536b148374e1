import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

import { describe, expect, onTestFinished } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { raiseAlert, resolveAlert } from '../../src/stores/db/notifications.ts'
import { openScheduledPlays } from '../../src/stores/jobs/scheduled-plays.ts'
import { checkRedis } from '../../src/stores/redis/check-redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { openCuttableProxy } from '../support/cuttable-proxy.ts'
import { drawDashboards } from '../support/draw-dashboards.ts'
import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { seedHook } from '../support/hooks.ts'
import { connectLive, subscribeLive } from '../support/live-client.ts'
import { alertsFile, readAlerts, readDashboards } from '../support/operations.ts'
import { startServer } from '../support/program.ts'
import { findComplaint, type Prometheus, startPrometheus } from '../support/prometheus.ts'
import { seedStations } from '../support/stations.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { isDeep } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'
import { startProgram } from '../support/whole-program.ts'
import { startWorkers } from '../support/worker-process.ts'

const window = '16s'
/** What the pictures show, which are drawn with the environment variable PICTURES. */
const pictureSeconds = 180
const within = { deadlineMs: 60_000 }

test.runIf(isDeep && whyWithout('prometheus') === null)(
  'promtool has no complaint about the files in ops',
  async () => {
    expect(await findComplaint(['rules', fileURLToPath(alertsFile)])).toBe(null)
    const config = fileURLToPath(new URL('prometheus.yml', alertsFile))
    expect(await findComplaint(['config', config])).toBe(null)
  }
)

describe.runIf(isDeep && whyWithout('prometheus') === null)('two servers and two workers processes', () => {
  test(
    'every panel has data, and every alert fires and is resolved',
    { timeout: 900_000 },
    async ({ sql, databaseUrl, redisUrl }) => {
      await using folder = await openTempFolder()
      await using postgres = await openCuttableProxy(databaseUrl)
      await using redis = await openCuttableProxy(redisUrl)
      const running = new Set<ChildProcess>()
      onTestFinished(() => {
        for (const child of running) child.kill('SIGKILL')
      })
      const ports = await Promise.all(Array.from({ length: 6 }, findFreePort))
      const [firstPort, secondPort, ...metricsPorts] = ports.map(String)
      const variables = (index: number) => ({
        DATA_DIR: folder.path,
        WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
        METRICS_PORT: metricsPorts[index] ?? ''
      })
      const openServer = async (port: string | undefined, index: number) => {
        const given = { ...variables(index), PORT: port ?? '', LIVE_MAX_CONNECTIONS: '12' }
        const server = await startServer(postgres.url, redis.url, folder.path, given)
        running.add(server.process)
        return server
      }
      const openWorkers = async (index: number) => {
        const workers = startWorkers(postgres.url, redis.url, variables(index))
        running.add(workers)
        workers.stderr?.pipe(process.stderr)
        await once(workers, 'message')
        return workers
      }
      const stop = async (child: ChildProcess) => {
        running.delete(child)
        child.kill('SIGKILL')
        await once(child, 'exit')
      }

      await using receiver = await startWebServer()
      await using icecast = await startFakeIcecast()
      icecast.send({ path: '/radio.mp3', listeners: [['203.0.113.9', 'VLC/3.0']] })
      const [first, second] = await Promise.all([openServer(firstPort, 0), openServer(secondPort, 1)])
      let workers = await Promise.all([openWorkers(2), openWorkers(3)])
      const stations = await seedStations(sql, { stations: 10, songMs: 2_000 })
      const stationIds = stations.map(({ id }) => id)
      await sql`update stations set frontend = 'icecast', frontend_url = ${icecast.url} where id = any(${stationIds}::bigint[])`
      for (const id of stationIds)
        await seedHook(sql, id, { triggers: ['song_changed'], config: { webhook_url: receiver.url } })
      const [station = 0] = stationIds

      await waitFor(
        async () => (await first.ask('GET', `/api/nowplaying/${station}`)).body.is_online === true,
        { ...within, what: 'the first song' }
      )
      const follow = (transport: 'sse' | 'http_stream') => {
        const leaving = new AbortController()
        onTestFinished(() => leaving.abort())
        const message = JSON.stringify({ subs: { [`station:${station}`]: { recover: true } } })
        void fetch(`${first.baseUrl}/api/live/nowplaying/${transport}`, {
          method: 'POST',
          body: message,
          headers: { 'Content-Type': 'application/json' },
          signal: leaving.signal
        })
          .then(async response => response.text())
          .catch(() => {})
        return () => leaving.abort()
      }
      await subscribeLive(`${first.baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`, {
        subs: { [`station:${station}`]: { recover: true, delta: 'merge-patch' } }
      })
      for (const transport of ['sse', 'http_stream'] as const) follow(transport)

      /** Sends requests all the time, and ignores errors. */
      const load = setInterval(() => {
        for (const path of [`/api/nowplaying/${station}`, '/api/status', `/api/station/${station}/queue`])
          for (const { ask } of [first, second]) void ask('GET', path).catch(() => {})
        const total = Math.floor(Math.random() * 1_000)
        void first.ask('PUT', `/api/station/${station}/listeners`, { body: { total } }).catch(() => {})
      }, 500)
      onTestFinished(() => clearInterval(load))

      for (const port of metricsPorts) {
        const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
        expect(await findComplaint(['metrics'], text)).toBe(null)
      }
      await using prometheus = await startPrometheus({
        targets: metricsPorts.map(port => `127.0.0.1:${port}`),
        pendingFor: '0s',
        window
      })

      const prepare = (expr: string) =>
        expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', window)
      for (const { name, panels } of readDashboards())
        for (const { title, targets } of panels)
          for (const { expr } of targets) {
            const what = `data of "${title}" of ${name}: ${prepare(expr)}`
            await waitFor(async () => (await prometheus.query(prepare(expr))).length > 0, { ...within, what })
          }
      if (process.env['PICTURES'] !== undefined) {
        const begin = `timestamp(cuewire_build_info offset ${pictureSeconds}s)`
        await waitFor(async () => (await prometheus.query(begin)).length === metricsPorts.length, {
          deadlineMs: 2 * pictureSeconds * 1_000,
          what: 'enough data for pictures'
        })
        await drawDashboards(prometheus, pictureSeconds, prepare)
      }
      await untilResolved(
        prometheus,
        readAlerts().map(({ alert }) => alert)
      )

      const tested = new Set<string>()
      /** Causes a fault, waits for its alerts, ends it, and waits until they are resolved. */
      const cause = async (alerts: string[], begin: () => unknown, end: () => unknown) => {
        await begin()
        await untilFiring(prometheus, alerts)
        await end()
        await untilResolved(prometheus, alerts)
        for (const alert of alerts) tested.add(alert)
      }

      await cause(
        ['CuewireDown'],
        () => stop(second.process),
        () => openServer(secondPort, 1)
      )
      await cause(
        ['CuewireRedisDisconnected', 'CuewireFeedStale', 'CuewireStationsStale', 'CuewireSongsOverdue'],
        () => {
          redis.refuse(true)
          redis.cut()
        },
        () => redis.refuse(false)
      )
      const limitMemory = async (bytes: number) => {
        const admin = openRedis(await checkRedis(redisUrl), 'test')
        await admin.call('CONFIG', 'SET', 'maxmemory', bytes)
        admin.disconnect()
      }
      await cause(
        ['CuewireRedisRefusesWrites'],
        () => limitMemory(1),
        () => limitMemory(0)
      )
      await cause(
        ['CuewirePostgresErrors', 'CuewireSweepStopped', 'CuewireHttpErrors'],
        () => {
          postgres.refuse(true)
          postgres.cut()
        },
        () => postgres.refuse(false)
      )
      await cause(
        ['CuewireStationFailing'],
        () => sql`update playlists set schedule_items = '[null]' where station_id = ${station}`,
        () => sql`update playlists set schedule_items = '[]' where station_id = ${station}`
      )
      await cause(
        ['CuewireNoWorkers'],
        () => Promise.all(workers.map(stop)),
        async () => (workers = await Promise.all([openWorkers(2), openWorkers(3)]))
      )
      await cause(
        ['CuewireWebhooksFailing'],
        () => receiver.answer((_, response) => response.writeHead(500).end()),
        async () => {
          receiver.answer('')
          // Otherwise they pause for minutes.
          await sql`update webhooks set paused_until_ms = 0, consecutive_failures = 0, failing_since_ms = null, pauses = 0`
          await sql`delete from webhook_deliveries where attempts > 0 and state = 'pending'`
        }
      )
      await cause(
        ['CuewireWebhookBacklog'],
        async () => {
          receiver.answer(() => {})
          await waitFor(
            async () => {
              const { count } = await sql`
              update webhook_deliveries set next_attempt_ms = next_attempt_ms - 120000 where state = 'pending'`
              return count > 0
            },
            { ...within, what: 'a pending delivery' }
          )
        },
        async () => {
          receiver.answer('')
          await sql`delete from webhook_deliveries where state = 'pending'`
        }
      )
      await cause(
        ['CuewirePollsFailing'],
        () => icecast.answer((_, response) => response.writeHead(503).end()),
        () => icecast.send({ path: '/radio.mp3' })
      )
      const leave: (() => void)[] = []
      await cause(
        ['CuewireConnectionsNearLimit'],
        () => {
          for (let index = 0; index < 9; index++) leave.push(follow('sse'))
        },
        () => {
          for (const each of leave) each()
        }
      )
      let pulses: NodeJS.Timeout | undefined
      await cause(
        ['CuewireEventLoopBlocked'],
        () => {
          pulses = setInterval(() => {
            first.process.kill('SIGSTOP')
            setTimeout(() => first.process.kill('SIGCONT'), 500)
          }, 1_500)
        },
        () => clearInterval(pulses)
      )
      await cause(
        ['CuewireSongsLate', 'CuewirePostgresPoolExhausted'],
        () => {
          // Shorter than the timeout of a lock, so that changes are late and do not fail.
          pulses = setInterval(() => {
            void sql.begin(async tx => {
              await tx`lock table stations in access exclusive mode`
              await tx`select pg_sleep(2.5)`
            })
            // Two transactions of a station at a time, and ten connections.
            for (const id of [...stationIds, ...stationIds])
              void first.ask('POST', `/api/station/${id}/backend/skip`).catch(() => {})
          }, 3_500)
        },
        () => clearInterval(pulses)
      )
      const plays = openRedis(await checkRedis(redisUrl), 'test')
      await plays.connect()
      onTestFinished(() => plays.disconnect())
      let lastPlay = 0
      await cause(
        ['CuewireJobsLate'],
        () => {
          // Workers find nothing to end, but so many of them that some always wait.
          pulses = setInterval(() => {
            const dueAtMs = Date.now() - 60_000
            const late = Array.from({ length: 500 }, () => ({
              stationId: 10 ** 9,
              shId: ++lastPlay,
              dueAtMs
            }))
            void openScheduledPlays(plays).add(late)
          }, 100)
        },
        async () => {
          clearInterval(pulses)
          await plays.zremrangebyscore('{cuewire}plays', '-inf', Date.now() - 30_000)
        }
      )
      const slow: Disposable[] = []
      let arrivals: NodeJS.Timeout | undefined
      await cause(
        ['CuewireSlowClients'],
        async () => {
          await sql`update media set lyrics = repeat('la ', 100000) where station_id = ${station}`
          pulses = setInterval(() => {
            const total = Math.floor(Math.random() * 1_000_000)
            void first.ask('PUT', `/api/station/${station}/listeners`, { body: { total } }).catch(() => {})
          }, 50)
          arrivals = setInterval(() => {
            slow.push(openSlowClient(first.baseUrl, station))
            if (slow.length > maxSlow) slow.shift()?.[Symbol.dispose]()
          }, 500)
        },
        () => {
          clearInterval(pulses)
          clearInterval(arrivals)
          for (const each of slow) each[Symbol.dispose]()
        }
      )
      const raised = {
        CuewireBackupFailed: 'backup-failed',
        CuewireBackupMissing: 'backup-missing',
        CuewireDiskFull: 'disk-full:other:/srv',
        CuewireCertificateEnds: 'certificate',
        CuewireStationsSilent: 'station-silent:0'
      }
      for (const [alert, fact] of Object.entries(raised)) {
        // Each is resolved by what raises it, here sometimes before Prometheus has seen it.
        const raise = () =>
          raiseAlert(sql, { fact, title: alert, body: '', type: 'danger', source: 'system' })
        await cause(
          [alert],
          () => (pulses = setInterval(() => void raise(), 200)),
          async () => {
            clearInterval(pulses)
            await resolveAlert(sql, fact)
          }
        )
      }
      await cause(
        ['CuewireStationsOverdue'],
        () => (pulses = setInterval(() => void raiseAlert(sql, staleAlert), 200)),
        () => clearInterval(pulses)
      )
      await cause(
        ['CuewireAlertMessagesFailed'],
        () => sql`insert into alert_messages (channel, content, attempts) values ('mail', '{}', 2)`,
        () => sql`delete from alert_messages`
      )
      expect([...tested, silentAlert].toSorted()).toEqual(
        readAlerts()
          .map(({ alert }) => alert)
          .toSorted()
      )
    }
  )
})

test.runIf(isDeep && whyWithout('prometheus') === null)(
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
    const answering = 'cuewire_supervised_processes{state="answering"} == 3'
    await waitFor(async () => (await prometheus.query(answering)).length > 0, {
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

const staleAlert = {
  fact: 'stations-stale',
  title: 'stale',
  body: '',
  type: 'danger',
  source: 'playout'
} as const

const silentAlert = 'CuewireProcessSilent'

/** Below the limit of connections, with those of the other clients. */
const maxSlow = 6

/** Subscribes to a station and reads nothing. */
function openSlowClient(baseUrl: string, station: number): Disposable {
  const { socket } = connectLive(`${baseUrl.replace('http', 'ws')}/api/live/nowplaying/websocket`)
  socket.once('open', () => {
    socket.send(JSON.stringify({ subs: { [`station:${station}`]: { recover: true } } }))
    socket.pause()
  })
  return { [Symbol.dispose]: () => socket.terminate() }
}

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
