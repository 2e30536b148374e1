import type { RequestListener } from 'node:http'
import { connect } from 'node:net'

import { describe, expect } from 'vitest'

import type { Sql } from '../../src/stores/db/sql.ts'
import { deliverDue } from '../../src/webhooks/deliveries/deliver.ts'
import { generateSigningSecret } from '../../src/webhooks/types/signature.ts'
import { test as base } from '../support/fixtures.ts'
import {
  bringForward,
  deliveryDeps,
  type HookShape,
  raiseSongs,
  readAttempts,
  readDeliveries,
  seedHook
} from '../support/hooks.ts'
import { seedStation } from '../support/stations.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer, type WebServer } from '../support/web-server.ts'

const test = base.extend('receiver', async ({ sql: _sql }, { onCleanup }): Promise<WebServer> => {
  const server = await startWebServer()
  onCleanup(() => server[Symbol.asyncDispose]())
  return server
})

const secret = generateSigningSecret()

async function openHook(sql: Sql, receiver: WebServer, given: Partial<HookShape> = {}) {
  const stationId = await seedStation(sql)
  const config = { webhook_url: `${receiver.url}/hook?token=hidden`, signing_secret: secret, ...given.config }
  const id = await seedHook(sql, stationId, { ...given, config })
  return { id, stationId }
}

const status =
  (code: number, headers: Record<string, string> = {}, body = ''): RequestListener =>
  (_, response) =>
    void response.writeHead(code, headers).end(body)

const titlesOf = (receiver: WebServer) =>
  receiver.asked.map(({ body }) => JSON.parse(body).now_playing.song.title)

async function hookRow(sql: Sql, id: number) {
  const [row] = await sql`
    select is_enabled, is_auto_disabled, consecutive_failures, paused_until_ms, last_status, held_until_ms
    from webhooks where id = ${id}`
  return row
}

describe('an event', () => {
  test('reaches the receiver once, signed, and is in the log', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    receiver.respondWith(status(204))
    await raiseSongs(sql, stationId, [1])
    expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
    expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
    expect(receiver.asked).toHaveLength(1)
    const [delivery] = await readDeliveries(sql, id)
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1, nextAttemptMs: null })
    expect(receiver.asked[0]?.headers['webhook-id']).toBe(delivery?.messageId)
    expect(await readAttempts(sql, id)).toMatchObject([
      { attempt: 1, status: 204, error: '', url: `${receiver.url}/hook`, response: '' }
    ])
    expect(await hookRow(sql, id)).toMatchObject({
      last_status: 204,
      consecutive_failures: 0,
      held_until_ms: 0
    })
  })

  test('is sent once, however often it is written', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    await raiseSongs(sql, stationId, [1, 1, 2, 1])
    await deliverDue(deliveryDeps(sql), id)
    expect(titlesOf(receiver)).toEqual(['Title 1', 'Title 2'])
  })

  test('is sent in the order of events, even after a failure', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    let asked = 0
    receiver.respondWith((_, response) => void response.writeHead(asked++ === 0 ? 500 : 200).end('broken'))
    await raiseSongs(sql, stationId, [1, 2, 3])
    const lookAtMs = await deliverDue(deliveryDeps(sql), id)
    expect(lookAtMs).toBeGreaterThan(Date.now() + 3_000)
    expect(titlesOf(receiver)).toEqual(['Title 1'])
    expect(await readAttempts(sql, id)).toMatchObject([{ status: 500, error: 'http', response: 'broken' }])
    await bringForward(sql, id)
    await deliverDue(deliveryDeps(sql), id)
    expect(titlesOf(receiver)).toEqual(['Title 1', 'Title 1', 'Title 2', 'Title 3'])
    const [first, second] = receiver.asked
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body)
  })

  test('whose first retry fails no longer holds back newer ones', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    let asked = 0
    receiver.respondWith((_, response) => void response.writeHead(asked++ < 2 ? 500 : 200).end())
    await raiseSongs(sql, stationId, [1, 2])
    await deliverDue(deliveryDeps(sql), id)
    await sql`update webhook_deliveries set next_attempt_ms = 1 where attempts = 1`
    expect(await deliverDue(deliveryDeps(sql), id)).toBeGreaterThan(Date.now() + 200_000)
    expect(titlesOf(receiver)).toEqual(['Title 1', 'Title 1', 'Title 2'])
    await bringForward(sql, id)
    await deliverDue(deliveryDeps(sql), id)
    expect((await readDeliveries(sql, id)).map(({ state }) => state)).toEqual(['delivered', 'delivered'])
  })

  test('that was sent by a process that was killed is sent again under the same id', async ({
    sql,
    receiver
  }) => {
    const { id, stationId } = await openHook(sql, receiver)
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    // As if nothing had been stored after the request.
    await sql`delete from webhook_attempts`
    await sql`update webhook_deliveries set state = 'pending', attempts = 0, next_attempt_ms = happened_at_ms, ended_at_ms = null`
    const heldUntilMs = Date.now() + 60_000
    await sql`update webhooks set holder = 'dead', held_until_ms = ${heldUntilMs} where id = ${id}`
    expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
    expect(receiver.asked).toHaveLength(1)
    await sql`update webhooks set held_until_ms = ${Date.now() - 60_000} where id = ${id}`
    await deliverDue(deliveryDeps(sql), id)
    expect(new Set(receiver.asked.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(receiver.asked).toHaveLength(2)
  })

  test('that is written during a request is delivered after it', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    receiver.respondWith((_, response) => {
      const written = receiver.asked.length === 1 ? raiseSongs(sql, stationId, [2]) : Promise.resolve()
      void written.then(() => response.end())
    })
    await raiseSongs(sql, stationId, [1])
    expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
    expect(titlesOf(receiver)).toEqual(['Title 1', 'Title 2'])
    expect(await hookRow(sql, id)).toMatchObject({ held_until_ms: 0 })
  })

  test('is stored as delivered if the lease was lost during the request, and the new lease stays', async ({
    sql,
    receiver
  }) => {
    const { id, stationId } = await openHook(sql, receiver)
    const heldUntilMs = Date.now() + 60_000
    receiver.respondWith((_, response) => {
      const lost = sql`update webhooks set holder = 'other', held_until_ms = ${heldUntilMs} where id = ${id}`
      void lost.then(() => response.end())
    })
    await raiseSongs(sql, stationId, [1, 2])
    expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
    expect(titlesOf(receiver)).toEqual(['Title 1'])
    expect((await readDeliveries(sql, id)).map(({ state }) => state)).toEqual(['delivered', 'pending'])
    expect(await hookRow(sql, id)).toMatchObject({ held_until_ms: heldUntilMs })
  })

  test.for([
    { change: 'renamed', set: { name: 'Other' }, states: ['delivered', 'delivered'] },
    { change: 'disabled', set: { is_enabled: false }, states: ['delivered', 'cancelled'] }
  ])(
    'is stored after waiting for a web hook that is being $change',
    async ({ set, states }, { sql, receiver }) => {
      const { id, stationId } = await openHook(sql, receiver)
      const waiting = async () => sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      let changed: Promise<unknown> | undefined
      receiver.respondWith((_, response) => {
        changed ??= sql.begin(async tx => {
          await tx`update webhooks set ${tx(set)} where id = ${id}`
          response.end()
          await waitFor(async () => (await waiting()).length > 0, {
            deadlineMs: 5_000,
            what: 'a statement that waits for the web hook'
          })
        })
        void changed.then(() => response.end())
      })
      await raiseSongs(sql, stationId, [1, 2])
      expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
      await changed
      expect((await readDeliveries(sql, id)).map(({ state }) => state)).toEqual(states)
      expect(await hookRow(sql, id)).toMatchObject({ held_until_ms: 0 })
    }
  )

  test('is not sent to a draft, without its trigger, or to a disabled or retired web hook', async ({
    sql,
    receiver
  }) => {
    const { id, stationId } = await openHook(sql, receiver, { triggers: ['live_connect'] })
    const draft = await seedHook(sql, stationId, { config: { signing_secret: secret } })
    const retired = await seedHook(sql, stationId, { type: 'twitter', config: { consumer_key: 'k' } })
    const off = await seedHook(sql, stationId, { config: { webhook_url: receiver.url } })
    await sql`update webhooks set is_enabled = false where id = ${off}`
    await raiseSongs(sql, stationId, [1])
    expect(
      await sql`select from webhook_deliveries where webhook_id = any(${[id, draft, retired, off]})`
    ).toHaveLength(0)
  })

  test('is cancelled if its web hook was disabled', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    await raiseSongs(sql, stationId, [1])
    await sql`update webhooks set is_enabled = false where id = ${id}`
    await deliverDue(deliveryDeps(sql), id)
    expect(await readDeliveries(sql, id)).toMatchObject([{ state: 'cancelled', nextAttemptMs: null }])
    expect(receiver.asked).toEqual([])
  })

  test('is merged with others within the rate limit', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, { config: { rate_limit: 60 } })
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    await raiseSongs(sql, stationId, [2])
    await raiseSongs(sql, stationId, [3], ['song_changed', 'song_changed_live'])
    await raiseSongs(sql, stationId, [4])
    const lookAtMs = (await deliverDue(deliveryDeps(sql), id)) ?? 0
    expect(lookAtMs).toBeGreaterThan(Date.now() + 55_000)
    expect(lookAtMs).toBeLessThanOrEqual(Date.now() + 60_000)
    expect(receiver.asked).toHaveLength(1)
    await sql`update webhooks set last_sent_ms = last_sent_ms - 60000 where id = ${id}`
    await deliverDue(deliveryDeps(sql), id)
    expect(titlesOf(receiver)).toEqual(['Title 1', 'Title 4'])
    expect(receiver.asked[1]?.headers['x-cuewire-event']).toBe('song_changed,song_changed_live')
    expect((await readDeliveries(sql, id)).map(({ state }) => state)).toEqual([
      'delivered',
      'merged',
      'merged',
      'delivered'
    ])
  })

  test('that was written last is the newest, whatever its time', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, { config: { rate_limit: 60 } })
    await raiseSongs(sql, stationId, [1, 2])
    await sql`update webhook_events set happened_at_ms = happened_at_ms - 5000 where fact = 'song:2'`
    await sql`update webhook_deliveries set happened_at_ms = happened_at_ms - 5000 where event_id in (
      select id from webhook_events where fact = 'song:2')`
    await deliverDue(deliveryDeps(sql), id)
    expect(titlesOf(receiver)).toEqual(['Title 2'])
  })

  test('is merged with 1,500 others', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, { config: { rate_limit: 60 } })
    await raiseSongs(sql, stationId, [1])
    await sql`
      insert into webhook_events (station_id, fact, happened_at_ms, state)
      select station_id, 'more:' || n, happened_at_ms, state from webhook_events, generate_series(1, 1500) n`
    await sql`
      insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, next_attempt_ms)
      select ${id}, id, fact, '{song_changed}', happened_at_ms, happened_at_ms from webhook_events where fact like 'more:%'`
    await deliverDue(deliveryDeps(sql), id)
    expect(receiver.asked.map(({ headers }) => headers['webhook-id'])).toEqual(['more:1500'])
    expect((await readDeliveries(sql, id)).filter(({ state }) => state !== 'merged')).toHaveLength(1)
  })

  test('is tried at once if others wait for a retry', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    await raiseSongs(sql, stationId, [1])
    await sql`
      insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, next_attempt_ms, attempts)
      select ${id}, e.id, 'old:' || n, '{song_changed}', 1, ${Date.now() + 3_600_000}, 3
      from webhook_events e, generate_series(1, 1200) n`
    await deliverDue(deliveryDeps(sql), id)
    expect(receiver.asked).toHaveLength(1)
  })

  test('for which the type has nothing to send is cancelled with the reason', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, {
      type: 'groupme',
      config: { bot_id: 'b', api: receiver.url, text: '{{ song_history.0.song.title }}' }
    })
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    expect(await readDeliveries(sql, id)).toMatchObject([{ state: 'cancelled' }])
    expect(await readAttempts(sql, id)).toMatchObject([
      { error: 'nothing', response: 'The message is empty.' }
    ])
  })
})

describe('a receiver that', () => {
  test('refuses connections gets a retry', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    await raiseSongs(sql, stationId, [1])
    await receiver[Symbol.asyncDispose]()
    await deliverDue(deliveryDeps(sql), id)
    expect(await readDeliveries(sql, id)).toMatchObject([{ state: 'pending', attempts: 1 }])
    expect(await readAttempts(sql, id)).toMatchObject([{ status: 0, error: 'refused' }])
  })

  test('hangs is aborted after the timeout', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, { config: { timeout: 1 } })
    receiver.respondWith(() => {})
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    const [attempt] = await readAttempts(sql, id)
    expect(attempt).toMatchObject({ status: 0, error: 'timeout' })
    expect(attempt?.durationMs).toBeGreaterThanOrEqual(990)
    expect(attempt?.durationMs).toBeLessThan(2_500)
  })

  test('answers byte by byte is aborted after the timeout', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, { config: { timeout: 1 } })
    const timers: NodeJS.Timeout[] = []
    receiver.respondWith((_, response) => {
      response.writeHead(200)
      timers.push(setInterval(() => response.write('.'), 50))
    })
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    for (const timer of timers) clearInterval(timer)
    expect(await readAttempts(sql, id)).toMatchObject([{ error: 'timeout' }])
    expect(await readDeliveries(sql, id)).toMatchObject([{ state: 'pending', attempts: 1 }])
  })

  test('redirects is not followed', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    const target = await startWebServer()
    receiver.respondWith(status(302, { location: target.url }))
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    expect(await readAttempts(sql, id)).toMatchObject([{ status: 302, error: 'redirect' }])
    expect(target.asked).toEqual([])
    await target[Symbol.asyncDispose]()
  })

  test('answers 410 is disabled, and operators are notified', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver, { name: 'Chat' })
    receiver.respondWith(status(410, {}, 'gone for good'))
    await raiseSongs(sql, stationId, [1, 2])
    expect(await deliverDue(deliveryDeps(sql), id)).toBeNull()
    expect(receiver.asked).toHaveLength(1)
    expect((await readDeliveries(sql, id)).map(({ state }) => state)).toEqual(['failed', 'cancelled'])
    expect(await hookRow(sql, id)).toMatchObject({
      is_enabled: false,
      is_auto_disabled: true,
      last_status: 410
    })
    const notifications = await sql`select title, source from notifications`
    expect(notifications).toEqual([{ title: 'Web hook "Chat" was disabled', source: 'webhooks' }])
  })

  test('answers 429 with Retry-After gets no earlier retry', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    receiver.respondWith(status(429, { 'retry-after': '90' }))
    await raiseSongs(sql, stationId, [1])
    const lookAtMs = (await deliverDue(deliveryDeps(sql), id)) ?? 0
    expect(lookAtMs).toBeGreaterThan(Date.now() + 85_000)
    expect(lookAtMs).toBeLessThan(Date.now() + 91_000)
  })

  test('closes the connection during its answer gets a retry', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    receiver.respondWith((_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => response.destroy())
    })
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    expect(await readDeliveries(sql, id)).toMatchObject([{ state: 'pending', attempts: 1 }])
  })

  test('answers at length is stored with 1,024 characters, without secrets and what Postgres cannot store', async ({
    sql,
    receiver
  }) => {
    const { id, stationId } = await openHook(sql, receiver)
    receiver.respondWith(status(200, {}, `\0your key is ${secret} ${'ü'.repeat(200_000)}`))
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql), id)
    const [attempt] = await readAttempts(sql, id)
    expect(attempt?.response).toHaveLength(1_024)
    expect(attempt?.response).toMatch(/^your key is … ü+$/)
  })

  test('is in a forbidden network gets no connection', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    const { BlockList } = await import('node:net')
    await raiseSongs(sql, stationId, [1])
    await deliverDue(deliveryDeps(sql, { allowed: new BlockList() }), id)
    expect(receiver.asked).toEqual([])
    expect(await readAttempts(sql, id)).toMatchObject([{ status: 0, error: 'blocked', response: '' }])
    const probe = connect(receiver.port, '127.0.0.1')
    await new Promise(resolve => probe.once('connect', resolve))
    probe.destroy()
  })

  test('fails five times in a row is paused for a minute, then tried once', async ({ sql, receiver }) => {
    const { id, stationId } = await openHook(sql, receiver)
    receiver.respondWith(status(500))
    await raiseSongs(sql, stationId, [1])
    for (let failure = 1; failure < 5; failure++) {
      await bringForward(sql, id)
      await deliverDue(deliveryDeps(sql), id)
    }
    await sql`update webhook_deliveries set next_attempt_ms = 1`
    const lookAtMs = (await deliverDue(deliveryDeps(sql), id)) ?? 0
    expect(receiver.asked).toHaveLength(5)
    expect(lookAtMs).toBeGreaterThan(Date.now() + 50_000)
    await sql`update webhook_deliveries set next_attempt_ms = 1`
    await deliverDue(deliveryDeps(sql), id)
    expect(receiver.asked).toHaveLength(5)
    receiver.respondWith(status(200))
    await raiseSongs(sql, stationId, [2, 3])
    await bringForward(sql, id)
    await deliverDue(deliveryDeps(sql), id)
    expect(await hookRow(sql, id)).toMatchObject({ consecutive_failures: 0, paused_until_ms: 0 })
    expect((await readDeliveries(sql, id)).map(({ state }) => state)).toEqual(Array(3).fill('delivered'))
  })
})

test('at most four requests to one host are in flight', async ({ sql, receiver }) => {
  const stationId = await seedStation(sql)
  const ids = await Promise.all(
    Array.from({ length: 12 }, () => seedHook(sql, stationId, { config: { webhook_url: receiver.url } }))
  )
  let now = 0
  let most = 0
  receiver.respondWith((_, response) => {
    most = Math.max(most, ++now)
    setTimeout(() => {
      now--
      response.end()
    }, 40)
  })
  await raiseSongs(sql, stationId, [1])
  const parts = deliveryDeps(sql)
  await Promise.all(ids.map(id => deliverDue(parts, id)))
  expect(receiver.asked).toHaveLength(12)
  expect(most).toBe(4)
  expect(parts.leases.size).toBe(0)
})
