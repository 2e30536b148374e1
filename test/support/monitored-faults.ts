import { onTestFinished } from 'vitest'

import { raiseAlert, resolveAlert } from '../../src/stores/db/notifications.ts'
import { openScheduledPlays } from '../../src/stores/jobs/scheduled-plays.ts'
import { resolveRedisPlace } from '../../src/stores/redis/check-redis.ts'
import { openRedis } from '../../src/stores/redis/connection.ts'
import { connectLive } from './live-client.ts'
import type { MonitoredProgram } from './monitored-program.ts'
import { waitFor } from './wait.ts'

/** Ends a fault. */
type End = () => unknown

/** A fault that causes alerts. The function begins it, and returns what ends it. */
type Fault = readonly [alerts: readonly string[], begin: (monitored: MonitoredProgram) => End | Promise<End>]

/** Repeats an action until the returned function is called, or the test ends. */
function repeat(action: () => unknown, everyMs: number): End {
  const timer = setInterval(() => void action(), everyMs)
  onTestFinished(() => clearInterval(timer))
  return () => clearInterval(timer)
}

/** While it is refused, a store has no connections. */
const withoutStore =
  (store: 'postgres' | 'redis') =>
  ({ [store]: proxy }: MonitoredProgram): End => {
    proxy.refuse(true)
    proxy.cut()
    return () => proxy.refuse(false)
  }

async function limitMemory({ redisUrl }: MonitoredProgram, bytes: number): Promise<void> {
  const admin = openRedis(await resolveRedisPlace(redisUrl), 'test')
  await admin.call('CONFIG', 'SET', 'maxmemory', bytes)
  admin.disconnect()
}

const faultsOfStores: readonly Fault[] = [
  [
    ['CuewireRedisDisconnected', 'CuewireFeedStale', 'CuewireStationsStale', 'CuewireSongsOverdue'],
    withoutStore('redis')
  ],
  [
    ['CuewireRedisRefusesWrites'],
    async monitored => {
      await limitMemory(monitored, 1)
      return () => limitMemory(monitored, 0)
    }
  ],
  [['CuewirePostgresErrors', 'CuewireSweepStopped', 'CuewireHttpErrors'], withoutStore('postgres')]
]

const faultsOfProcesses: readonly Fault[] = [
  [
    ['CuewireDown'],
    async ({ stopSecond, startSecond }) => {
      await stopSecond()
      return startSecond
    }
  ],
  [
    ['CuewireStationFailing'],
    async ({ sql, station }) => {
      await sql`update playlists set schedule_items = '[null]' where station_id = ${station}`
      return () => sql`update playlists set schedule_items = '[]' where station_id = ${station}`
    }
  ],
  [
    ['CuewireNoWorkers'],
    async ({ stopWorkers, startWorkers }) => {
      await stopWorkers()
      return startWorkers
    }
  ],
  [
    ['CuewirePollsFailing'],
    ({ icecast }) => {
      icecast.respondWith((_, response) => response.writeHead(503).end())
      return () => icecast.send({ path: '/radio.mp3' })
    }
  ],
  [
    ['CuewireEventLoopBlocked'],
    ({ first }) =>
      repeat(() => {
        first.process.kill('SIGSTOP')
        setTimeout(() => first.process.kill('SIGCONT'), 500)
      }, 1_500)
  ]
]

const faultsOfWebhooks: readonly Fault[] = [
  [
    ['CuewireWebhooksFailing'],
    ({ receiver, sql }) => {
      receiver.respondWith((_, response) => response.writeHead(500).end())
      return async () => {
        receiver.respondWith('')
        // Otherwise they pause for minutes.
        await sql`update webhooks set paused_until_ms = 0, consecutive_failures = 0, failing_since_ms = null, pauses = 0`
        await sql`delete from webhook_deliveries where attempts > 0 and state = 'pending'`
      }
    }
  ],
  [
    ['CuewireWebhookBacklog'],
    async ({ receiver, sql }) => {
      receiver.respondWith(() => {})
      await waitFor(
        async () => {
          const { count } = await sql`
            update webhook_deliveries set next_attempt_ms = next_attempt_ms - 120000 where state = 'pending'`
          return count > 0
        },
        { deadlineMs: 60_000, what: 'a pending delivery' }
      )
      return async () => {
        receiver.respondWith('')
        await sql`delete from webhook_deliveries where state = 'pending'`
      }
    }
  ]
]

let lastPlay = 0

const faultsOfLoad: readonly Fault[] = [
  [
    ['CuewireConnectionsNearLimit'],
    ({ follow }) => {
      const leave = Array.from({ length: 9 }, () => follow('sse'))
      return () => {
        for (const each of leave) each()
      }
    }
  ],
  [
    ['CuewireSongsLate', 'CuewirePostgresPoolExhausted'],
    ({ sql, first, stationIds }) =>
      // Shorter than the timeout of a lock, so that changes are late and do not fail.
      repeat(() => {
        void sql.begin(async tx => {
          await tx`lock table stations in access exclusive mode`
          await tx`select pg_sleep(2.5)`
        })
        // Two transactions of a station at a time, and ten connections.
        for (const id of [...stationIds, ...stationIds])
          void first.ask('POST', `/api/station/${id}/backend/skip`).catch(() => {})
      }, 3_500)
  ],
  [
    ['CuewireJobsLate'],
    async ({ redisUrl }) => {
      const plays = openRedis(await resolveRedisPlace(redisUrl), 'test')
      await plays.connect()
      onTestFinished(() => plays.disconnect())
      // Workers find nothing to end, but so many of them that some always wait.
      const end = repeat(() => {
        const dueAtMs = Date.now() - 60_000
        const late = Array.from({ length: 500 }, () => ({ stationId: 10 ** 9, shId: ++lastPlay, dueAtMs }))
        void openScheduledPlays(plays).add(late)
      }, 100)
      return async () => {
        end()
        await plays.zremrangebyscore('{cuewire}plays', '-inf', Date.now() - 30_000)
      }
    }
  ],
  [
    ['CuewireSlowClients'],
    async monitored => {
      const { sql, station, first } = monitored
      await sql`update media set lyrics = repeat('la ', 100000) where station_id = ${station}`
      const slow: Disposable[] = []
      const endChanges = repeat(() => {
        const total = Math.floor(Math.random() * 1_000_000)
        void first.ask('PUT', `/api/station/${station}/listeners`, { body: { total } }).catch(() => {})
      }, 50)
      const endArrivals = repeat(() => {
        slow.push(openSlowClient(monitored))
        if (slow.length > maxSlow) slow.shift()?.[Symbol.dispose]()
      }, 500)
      return () => {
        endChanges()
        endArrivals()
        for (const each of slow) each[Symbol.dispose]()
      }
    }
  ]
]

/** Each alert is resolved by what raises it, here sometimes before Prometheus has seen it. */
const raised = (alert: string, key: string): Fault => [
  [alert],
  ({ sql }) => {
    const danger = { key, title: alert, body: '', type: 'danger', source: 'system' } as const
    const end = repeat(() => raiseAlert(sql, danger), 200)
    return async () => {
      end()
      await resolveAlert(sql, key)
    }
  }
]

const faultsOfUpkeep: readonly Fault[] = [
  raised('CuewireBackupFailed', 'backup-failed'),
  raised('CuewireBackupMissing', 'backup-missing'),
  raised('CuewireDiskFull', 'disk-full:other:/srv'),
  raised('CuewireCertificateEnds', 'certificate'),
  raised('CuewireStationsSilent', 'station-silent:0'),
  [['CuewireStationsOverdue'], ({ sql }) => repeat(() => raiseAlert(sql, staleAlert), 200)],
  [
    ['CuewireAlertMessagesFailed'],
    async ({ sql }) => {
      await sql`insert into alert_messages (channel, content, attempts) values ('mail', '{}', 2)`
      return () => sql`delete from alert_messages`
    }
  ]
]

/** A fault of each kind that alerts name. */
export const faults: readonly Fault[] = [
  ...faultsOfStores,
  ...faultsOfProcesses,
  ...faultsOfWebhooks,
  ...faultsOfLoad,
  ...faultsOfUpkeep
]

const staleAlert = {
  key: 'stations-stale',
  title: 'stale',
  body: '',
  type: 'danger',
  source: 'playout'
} as const

/** Below the limit of connections, with those of the other clients. */
const maxSlow = 6

/** Subscribes to the station and reads nothing. */
function openSlowClient({ liveUrl, subscription }: MonitoredProgram): Disposable {
  const { socket } = connectLive(liveUrl)
  socket.once('open', () => {
    socket.send(JSON.stringify(subscription))
    socket.pause()
  })
  return { [Symbol.dispose]: () => socket.terminate() }
}
