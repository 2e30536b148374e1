import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { Webhook } from 'standardwebhooks'
import { describe, expect } from 'vitest'

import { readCertificateEnd } from '../../src/platform/outbound/certificate.ts'
import { toNetworkList } from '../../src/platform/outbound/networks.ts'
import { openLog } from '../../src/platform/runtime/log.ts'
import { raiseAlert, resolveAlert } from '../../src/stores/db/notifications.ts'
import type { Sql } from '../../src/stores/db/sql.ts'
import { announceAlerts } from '../../src/upkeep/alerts/announce.ts'
import { updateCertificateAlert } from '../../src/upkeep/alerts/certificate-alert.ts'
import { type SendAlertDeps, sendAlerts } from '../../src/upkeep/alerts/send-alerts.ts'
import { updateStaleStationsAlert } from '../../src/upkeep/alerts/stale-stations.ts'
import {
  resolveBackupAlerts,
  recordScheduledBackup,
  updateMissingBackupAlert
} from '../../src/upkeep/archives/missing-backup.ts'
import { openMailer } from '../../src/webhooks/deliveries/mailer.ts'
import { generateSigningSecret } from '../../src/webhooks/types/signature.ts'
import { test } from '../support/fixtures.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { seedStations } from '../support/stations.ts'
import { openTempFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'
import { startWorkers } from '../support/worker-process.ts'

const secret = generateSigningSecret()
const at = { channels: ['url'], debounceMs: 0, intervalMs: 0 } as const
const running = new AbortController().signal

const textsOf = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const raise = (sql: Sql, key: string, source: 'storage' | 'playout' | 'webhooks' = 'storage') =>
  raiseAlert(sql, {
    key,
    title: `Title of ${key}`,
    body: 'Do this.',
    type: source === 'webhooks' ? 'warning' : 'danger',
    source
  })

const depsFor = async (sql: Sql, deps: Partial<SendAlertDeps>): Promise<SendAlertDeps> => ({
  sql,
  log: (await openLog('test', 'silent')).log,
  baseUrl: 'https://radio.example.com',
  mail: null,
  post: null,
  allowed: toNetworkList(['127.0.0.0/8']),
  ...deps
})

describe('a message about alerts', () => {
  test('says once what was raised, and once what is resolved, signed as web hooks are', async ({ sql }) => {
    await using receiver = await startWebServer()
    const deps = await depsFor(sql, { post: { url: `${receiver.url}/alerts`, secret } })
    await raise(sql, 'disk-full:a')
    await raise(sql, 'station-silent:7', 'playout')
    await raise(sql, 'webhook-failing:3', 'webhooks')
    const announced = await Promise.all(Array.from({ length: 4 }, () => announceAlerts(sql, at)))
    expect(announced.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 2])
    expect(await Promise.all([sendAlerts(deps, running), sendAlerts(deps, running)])).toContain(1)
    await waitFor(() => receiver.asked.length === 1, { deadlineMs: 5_000, what: 'the request' })
    const [asked] = receiver.asked
    const { headers = {}, body = '' } = asked ?? {}
    expect(new Webhook(secret).verify(body, textsOf(headers))).toMatchObject({
      type: 'alerts',
      installation: { name: 'Cuewire', url: 'https://radio.example.com' },
      raised: {
        count: 2,
        alerts: [
          { alert: 'disk-full:a', title: 'Title of disk-full:a', body: 'Do this.' },
          { alert: 'station-silent:7' }
        ]
      },
      reminded: { count: 0 },
      resolved: { count: 0 }
    })
    expect(await announceAlerts(sql, at)).toBe(0)
    await resolveAlert(sql, 'disk-full:a')
    expect(await announceAlerts(sql, at)).toBe(1)
    await sendAlerts(deps, running)
    expect(JSON.parse(receiver.asked[1]?.body ?? '')).toMatchObject({
      raised: { count: 0 },
      resolved: { count: 1, alerts: [{ alert: 'disk-full:a', title: 'Title of disk-full:a' }] }
    })
    expect(await sql`select from alert_messages`).toHaveLength(0)
  })

  test('leaves out what is resolved within a minute, and waits five minutes for the next', async ({
    sql
  }) => {
    const { debounceMs: _debounce, intervalMs: _interval, ...production } = at
    await raise(sql, 'disk-full:a')
    expect(await announceAlerts(sql, production)).toBe(0)
    await resolveAlert(sql, 'disk-full:a')
    await raise(sql, 'disk-full:b')
    await sql`update open_facts set raised_at = now() - interval '2 minutes'`
    expect(await announceAlerts(sql, production)).toBe(1)
    await resolveAlert(sql, 'disk-full:b')
    expect(await announceAlerts(sql, production)).toBe(0)
    await sql`update settings set value = (now() - interval '6 minutes')::text where name = 'last alert message'`
    expect(await announceAlerts(sql, production)).toBe(1)
  })

  test('reminds of what is still open after a day, also if its notification was deleted', async ({ sql }) => {
    await raise(sql, 'disk-full:a')
    await announceAlerts(sql, at)
    expect(await announceAlerts(sql, at)).toBe(0)
    await sql`delete from notifications`
    await sql`update announced_alerts set announced_at = now() - interval '25 hours'`
    expect(await announceAlerts(sql, at)).toBe(1)
    const [last] = await sql`select content from alert_messages order by created_at desc limit 1`
    expect(last?.['content']).toMatchObject({
      raised: { count: 0 },
      reminded: { count: 1, alerts: [{ alert: 'disk-full:a', title: 'Title of disk-full:a' }] }
    })
    expect(await announceAlerts(sql, at)).toBe(0)
  })

  test('counts ten thousand stations, and lists fifty of them', async ({ sql }) => {
    await sql`
      with facts as (insert into open_facts (fact, notification_id)
        select 'station-silent:' || n, n::text from generate_series(1, 10000) n returning *)
      insert into notifications (notification_id, title, body, type, source)
      select notification_id, 'Silent: ' || notification_id, '', 'danger', 'playout' from facts`
    expect(await announceAlerts(sql, at)).toBe(10_000)
    const [message] = await sql`select content, length(content::text) as size from alert_messages`
    expect(message?.['content'].raised.count).toBe(10_000)
    expect(message?.['content'].raised.alerts).toHaveLength(50)
    expect(message?.['size']).toBeLessThan(20_000)
  })

  test('is tried again with the same id until it arrives, and is never sent to a private address that is not allowed', async ({
    sql
  }) => {
    await using receiver = await startWebServer()
    const post = { url: receiver.url, secret }
    await raise(sql, 'disk-full:a')
    await announceAlerts(sql, at)
    const due = () => sql`update alert_messages set next_attempt_at = now()`
    expect(await sendAlerts(await depsFor(sql, { post, allowed: toNetworkList([]) }), running)).toBe(0)
    expect(receiver.asked).toHaveLength(0)
    const deps = await depsFor(sql, { post })
    expect(await sendAlerts(deps, running)).toBe(0)
    receiver.respondWith((_, response) => response.writeHead(500).end())
    await due()
    expect(await sendAlerts(deps, running)).toBe(0)
    receiver.respondWith('')
    await due()
    expect(await sendAlerts(deps, running)).toBe(1)
    expect(new Set(receiver.asked.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(receiver.asked).toHaveLength(2)
  })

  test('that never arrives is dropped after a day', async ({ sql }) => {
    await raise(sql, 'disk-full:a')
    await announceAlerts(sql, at)
    await sql`update alert_messages set created_at = now() - interval '25 hours', next_attempt_at = now() + interval '1 hour'`
    await sendAlerts(await depsFor(sql, {}), running)
    expect(await sql`select from alert_messages`).toHaveLength(0)
  })

  test('is a mail to the accounts with all permissions, or to ALERT_MAIL', async ({ sql }) => {
    await using server = await startMailServer()
    const mailer = openMailer(server.url, 'radio@example.com')
    await sql`insert into users (email, stations) values ('boss@example.com', null), ('dj@example.com', null), ('some@example.com', '[1]')`
    await sql`insert into user_roles (user_id, role_id) select u.id, r.id from users u join roles r
      on r.builtin = case u.email when 'dj@example.com' then 'dj' else 'administrator' end`
    await raise(sql, 'disk-full:a')
    await raise(sql, 'disk-full:b')
    await announceAlerts(sql, { ...at, channels: ['mail'] })
    await sendAlerts(await depsFor(sql, { mail: { mailer, to: null } }), running)
    expect(server.received[0]).toMatchObject({ from: 'radio@example.com', to: ['boss@example.com'] })
    expect(server.received[0]?.text).toContain('Subject: [Cuewire] Alert: Title of disk-full:a (and 1 more)')
    expect(server.received[0]?.text).toContain('- Title of disk-full:b')
    await sql`delete from open_facts`
    await announceAlerts(sql, { ...at, channels: ['mail'] })
    await sendAlerts(await depsFor(sql, { mail: { mailer, to: ['ops@example.com'] } }), running)
    expect(server.received[1]).toMatchObject({ to: ['ops@example.com'] })
    expect(server.received[1]?.text).toContain('Subject: [Cuewire] Resolved: ')
  })

  test('is not composed while nobody wants one, and then names what is open', async ({ sql }) => {
    await raise(sql, 'disk-full:a')
    expect(await announceAlerts(sql, { ...at, channels: [] })).toBe(0)
    expect(await announceAlerts(sql, { ...at, channels: ['mail', 'url'] })).toBe(1)
    expect(await sql`select channel from alert_messages order by channel`).toEqual([
      { channel: 'mail' },
      { channel: 'url' }
    ])
  })
})

test('two workers processes send one request about an alert', async ({
  sql,
  databaseUrl,
  redisUrl,
  onTestFinished
}) => {
  await using receiver = await startWebServer()
  await using folder = await openTempFolder()
  await raise(sql, 'disk-full:elsewhere')
  await sql`update open_facts set raised_at = now() - interval '2 minutes'`
  const variables = {
    DATA_DIR: folder.path,
    ALERT_URL: `${receiver.url}/hook`,
    ALERT_SECRET: secret,
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
  }
  for (let index = 0; index < 2; index++) {
    const workers = startWorkers(databaseUrl, redisUrl, variables)
    onTestFinished(() => void workers.kill('SIGKILL'))
  }
  await waitFor(() => receiver.asked.length > 0, { deadlineMs: 20_000, what: 'the request' })
  await waitFor(async () => (await sql`select from processes where kind = 'workers'`).length === 2, {
    deadlineMs: 20_000,
    what: 'both processes'
  })
  await waitFor(async () => (await sql`select from alert_messages`).length === 0, {
    deadlineMs: 10_000,
    what: 'the end of the message'
  })
  expect(receiver.asked).toHaveLength(1)
  new Webhook(secret).verify(receiver.asked[0]?.body ?? '', textsOf(receiver.asked[0]?.headers ?? {}))
})

describe('the alert of a missing backup', () => {
  const hour = 3_600_000
  const open = async (sql: Sql) => (await sql`select fact from open_facts`).map(row => row['fact'])
  /** A schedule whose next runs are at these distances from now. */
  const schedule = (expression: string, ...distances: number[]) => ({
    expression,
    nextTimes: () => distances.map(hours => new Date(Date.now() + hours * hour))
  })

  test('is raised if none is written within a margin after its time, and resolved by the next one', async ({
    sql
  }) => {
    const late = (hours: number) => updateMissingBackupAlert(sql, schedule('0 3 * * *', -hours, 24 - hours))
    await late(5)
    await late(5)
    expect(await open(sql)).toEqual([])
    await sql`delete from settings`
    await late(7)
    expect(await open(sql)).toEqual([])
    await late(7)
    await late(7)
    expect(await open(sql)).toEqual(['backup-missing'])
    expect(await sql`select title, type from notifications`).toEqual([
      { title: 'A scheduled backup is missing', type: 'danger' }
    ])
    await recordScheduledBackup(sql)
    expect(await open(sql)).toEqual([])
    await updateMissingBackupAlert(sql, schedule('0 3 * * *', 20, 44))
    await updateMissingBackupAlert(sql, schedule('0 3 * * *', 20, 44))
    expect(await open(sql)).toEqual([])
    const [setting] = await sql`select value from settings where name = 'next scheduled backup'`
    expect(JSON.parse(setting?.['value'])).toMatchObject({ marginMs: 6 * hour })
  })

  test('begins anew with a changed schedule, and ends without one', async ({ sql }) => {
    const missed = schedule('0 3 * * *', -7, 17)
    await updateMissingBackupAlert(sql, missed)
    await updateMissingBackupAlert(sql, missed)
    expect(await open(sql)).toHaveLength(1)
    await updateMissingBackupAlert(sql, schedule('0 4 * * *', 1, 25))
    expect(await open(sql)).toEqual([])
    await updateMissingBackupAlert(sql, missed)
    await updateMissingBackupAlert(sql, missed)
    expect(await open(sql)).toHaveLength(1)
    await resolveBackupAlerts(sql)
    expect(await open(sql)).toEqual([])
  })

  test('leaves an hour to frequent backups, and half a day to rare ones', async ({ sql }) => {
    for (const [period, margin] of [
      [1 / 12, 1],
      [24, 6],
      [720, 12]
    ] as const) {
      await updateMissingBackupAlert(sql, schedule(`every ${period}`, 1, 1 + period))
      const [setting] = await sql`select value from settings where name = 'next scheduled backup'`
      expect(JSON.parse(setting?.['value']).marginMs / hour).toBeCloseTo(margin)
    }
  })
})

describe('the certificate of BASE_URL', () => {
  async function startTls(days: number) {
    const folder = await openTempFolder()
    const request =
      `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days} -keyout key.pem -out cert.pem ` +
      '-subj /CN=localhost'
    await promisify(execFile)('openssl', request.split(' '), { cwd: folder.path, timeout: 10_000 })
    const read = (name: string) => readFileSync(join(folder.path, name))
    const server = createServer({ key: read('key.pem'), cert: read('cert.pem') })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    return {
      url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
      async [Symbol.asyncDispose]() {
        server.closeAllConnections()
        server.close()
        await folder[Symbol.asyncDispose]()
      }
    }
  }

  test('that ends within two weeks is an alert, which its renewal resolves', async ({ sql }) => {
    await using old = await startTls(3)
    await using renewed = await startTls(80)
    await updateCertificateAlert(sql, old.url, running)
    await updateCertificateAlert(sql, old.url, running)
    expect(await sql`select type, source from notifications`).toEqual([{ type: 'danger', source: 'system' }])
    await updateCertificateAlert(sql, 'https://127.0.0.1:1', running)
    expect(await sql`select from open_facts`).toHaveLength(1)
    await updateCertificateAlert(sql, renewed.url, running)
    expect(await sql`select from open_facts`).toHaveLength(0)
    await updateCertificateAlert(sql, old.url, running)
    await updateCertificateAlert(sql, 'http://127.0.0.1', running)
    expect(await sql`select from open_facts`).toHaveLength(0)
  })

  test('is unknown if the server is silent or the process stops', async () => {
    await using silent = await startSilentServer()
    const stopping = AbortSignal.timeout(300)
    expect(await readCertificateEnd(`https://127.0.0.1:${silent.port}`, stopping)).toBe(null)
    expect(await readCertificateEnd('https://127.0.0.1:1')).toBe(null)
  })
})

test('stations whose song is over and was not ended are one alert that names them', async ({ sql }) => {
  const stations = await seedStations(sql, { stations: 30, tracks: 1 })
  const nowMs = Date.now()
  expect(await updateStaleStationsAlert(sql, nowMs)).toBe(0)
  await sql`
    insert into song_history ${sql(
      stations.map(({ id }) => ({
        station_id: id,
        song_id: 'ab'.repeat(16),
        started_at_ms: nowMs - 300_000,
        due_at_ms: nowMs - 120_000
      }))
    )}`
  expect(await updateStaleStationsAlert(sql, nowMs)).toBe(30)
  expect(await updateStaleStationsAlert(sql, nowMs)).toBe(30)
  const [alert, ...others] = await sql`select title, body from notifications`
  expect(others).toHaveLength(0)
  expect(alert?.['title']).toBe('30 stations are stale')
  expect(alert?.['body']).toContain('and 10 more')
  await sql`update song_history set ended_at_ms = ${nowMs}`
  expect(await updateStaleStationsAlert(sql, nowMs)).toBe(0)
  expect(await sql`select from open_facts`).toHaveLength(0)
})
