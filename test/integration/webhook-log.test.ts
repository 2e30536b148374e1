import { expect, onTestFinished } from 'vitest'

import { parseConfig } from '../../src/config.ts'
import { removeOldDeliveries } from '../../src/stores/db/retention.ts'
import { test } from '../support/fixtures.ts'
import { errorsOf, openHookStage } from '../support/hook-stage.ts'
import { readDeliveries } from '../support/hooks.ts'
import { waitFor } from '../support/wait.ts'
import { startWorkers } from '../support/worker-process.ts'

const dayMs = 86_400_000
const seconds = () => Math.floor(Date.now() / 1000)

test('the log of a web hook shows deliveries and attempts, newest first', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make({ triggers: ['song_changed'] })
  await stage.raise()
  await stage.deliver(id)
  stage.receiver.respondWith((_, response) => void response.writeHead(500).end('out of order'))
  await stage.raise()
  await stage.deliver(id)
  const { status, headers, body } = await stage.ask('GET', `webhook/${id}/deliveries`)
  expect([status, headers.get('x-total-count')]).toEqual([200, '2'])
  const [failing, delivered] = body
  const recent = (value: number) => expect(Math.abs(value - seconds())).toBeLessThan(10)
  const common = {
    id: expect.any(Number),
    message_id: expect.stringMatching(/^evt_[a-z2-7]{26}$/),
    happened_at: expect.any(Number),
    triggers: ['song_changed'],
    attempts: 1,
    attempted_at: expect.any(Number),
    duration_ms: expect.any(Number),
    url: `${stage.receiver.url}/hook`
  }
  expect(body).toEqual([
    {
      ...common,
      state: 'pending',
      status: 500,
      error: 'http',
      response: 'out of order',
      next_attempt: expect.any(Number)
    },
    { ...common, state: 'delivered', status: 200, error: '', response: '', next_attempt: 0 }
  ])
  for (const value of [failing.happened_at, failing.attempted_at, failing.next_attempt]) recent(value)
  expect(stage.receiver.asked.map(each => each.headers['webhook-id'])).toEqual([
    delivered.message_id,
    failing.message_id
  ])

  await sql`update webhook_deliveries set next_attempt_ms = 1 where id = ${failing.id}`
  stage.receiver.respondWith('better')
  await stage.deliver(id)
  const one = await stage.ask('GET', `webhook/${id}/delivery/${failing.id}`)
  expect(one.body).toMatchObject({
    id: failing.id,
    state: 'delivered',
    attempts: 2,
    status: 200,
    next_attempt: 0
  })
  expect(one.body.log).toEqual([
    {
      attempt: 1,
      attempted_at: failing.attempted_at,
      duration_ms: failing.duration_ms,
      status: 500,
      error: 'http',
      url: common.url,
      response: 'out of order'
    },
    expect.objectContaining({ attempt: 2, status: 200, error: '', response: 'better' })
  ])
})

test('the log is filtered by state, paged and searched', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const states = ['pending', 'delivered', 'failed', 'merged', 'superseded', 'expired', 'cancelled']
  await stage.raise(states.length)
  const rows = await readDeliveries(sql, id)
  for (const [index, row] of rows.entries())
    await sql`update webhook_deliveries set state = ${states[index] ?? ''} where id = ${row.id}`
  const list = async (query: string) => stage.ask('GET', `webhook/${id}/deliveries${query}`)
  for (const [index, state] of states.entries()) {
    const { body } = await list(`?status=${state}`)
    expect(body.map((each: { id: number; state: string }) => [each.id, each.state])).toEqual([
      [rows[index]?.id, state]
    ])
  }
  const { body: page } = await list('?per_page=3&page=2')
  expect(page).toMatchObject({ page: 2, per_page: 3, total: 7, total_pages: 3 })
  expect(page.rows.map((each: { state: string }) => each.state)).toEqual(['merged', 'failed', 'delivered'])
  const { body: found } = await list(`?searchPhrase=${rows[4]?.messageId}`)
  expect(found.map((each: { id: number }) => each.id)).toEqual([rows[4]?.id])
  expect((await list('?status=')).body).toHaveLength(7)
  for (const [query, field] of [
    ['?status=gone', 'status not_in_enum'],
    ['?sort=id', 'sort not_in_enum'],
    ['?page=x', 'page invalid_type']
  ] as const) {
    const refused = await list(query)
    expect([refused.status, errorsOf(refused)]).toEqual([400, [field]])
  }
})

test('a redelivery has the same id and body, and a new timestamp', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make({ config: { webhook_url: stage.receiver.url, rate_limit: 3_600 } })
  await stage.raise()
  await stage.deliver(id)
  const [row] = await readDeliveries(sql, id)
  const again = await stage.ask('POST', `webhook/${id}/delivery/${row?.id}/redeliver`)
  const said = 'The message is sent again.'
  expect([again.status, again.body]).toEqual([200, { success: true, message: said, formatted_message: said }])
  const path = `webhook/${id}/delivery/${row?.id}`
  expect((await stage.ask('GET', path)).body).toMatchObject({ state: 'pending', attempts: 0 })
  expect((await stage.ask('POST', `${path}/redeliver`)).status).toBe(409)
  await stage.deliver(id)
  const [first, second, ...others] = stage.receiver.asked
  expect(others).toEqual([])
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  expect(second?.body).toBe(first?.body)
  expect((await stage.ask('GET', path)).body).toMatchObject({
    state: 'delivered',
    attempts: 1,
    log: [{ attempt: 1 }, { attempt: 1 }]
  })
  const audits = await sql`select method, record_id from audit_log where record = 'WebhookDelivery'`
  expect(audits).toEqual([{ method: 'POST', record_id: String(row?.id) }])
})

test('workers make a redelivery at once', async ({ sql, redisUrl, databaseUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make({ triggers: ['live_connect'] })
  await stage.raise(2, { triggers: ['live_connect'], agoMs: 60_000 })
  await stage.deliver(id)
  const workers = startWorkers(databaseUrl, redisUrl, {
    SECRETS_KEY: '00'.repeat(32),
    WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8'
  })
  onTestFinished(() => void workers.kill('SIGKILL'))
  const response = await stage.ask('POST', `webhook/${id}/redeliver`, { since: 0 })
  expect(response.body.redelivered).toBe(2)
  const ids = await waitFor(
    () => stage.receiver.asked.length === 4 && stage.receiver.asked.map(each => each.headers['webhook-id']),
    { deadlineMs: 20_000, what: 'both messages again' }
  )
  expect(ids.slice(2)).toEqual(ids.slice(0, 2))
})

test('the second of two concurrent redeliveries is refused, because the first is pending', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  await stage.raise()
  await stage.deliver(id)
  const [row] = await readDeliveries(sql, id)
  const path = `webhook/${id}/delivery/${row?.id}/redeliver`
  const responses = await Promise.all(Array.from({ length: 5 }, async () => stage.ask('POST', path)))
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409])
  await stage.deliver(id)
  expect(stage.receiver.asked).toHaveLength(2)
})

test('a range redelivers what was delivered or failed, but not what is pending or was merged', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const states = [
    'delivered',
    'failed',
    'expired',
    'superseded',
    'cancelled',
    'merged',
    'pending',
    'delivered'
  ]
  await stage.raise(states.length, { agoMs: 3_600_000 })
  const rows = await readDeliveries(sql, id)
  for (const [index, row] of rows.entries())
    await sql`update webhook_deliveries set state = ${states[index] ?? ''} where id = ${row.id}`
  const [{ since } = { since: 0 }] = await sql<{ since: number }[]>`
    select min(happened_at_ms) / 1000 as since from webhook_deliveries`
  const path = `webhook/${id}/redeliver`
  const none = await stage.ask('POST', path, { since: since - 100, until: since - 1 })
  expect(none.body).toMatchObject({ redelivered: 0, message: '0 messages are sent again.' })
  const some = await stage.ask('POST', path, { since, until: since + 6 })
  expect([some.status, some.body.redelivered]).toEqual([200, 5])
  const again = (await readDeliveries(sql, id)).map(({ state }) => state)
  expect(again).toEqual([...Array<string>(5).fill('pending'), 'merged', 'pending', 'delivered'])
  const rest = await stage.ask('POST', path, { since })
  expect(rest.body).toMatchObject({ redelivered: 1, message: '1 message is sent again.' })
})

test('more than 1,000 deliveries and an invalid range are refused by field', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  await stage.raise()
  await sql`
    insert into webhook_deliveries (webhook_id, event_id, message_id, triggers, happened_at_ms, state)
    select webhook_id, event_id, 'evt_' || n, triggers, happened_at_ms - 1000 * n, 'delivered'
    from webhook_deliveries, generate_series(1, 1001) n`
  const path = `webhook/${id}/redeliver`
  const now = seconds()
  for (const [body, field] of [
    [{ since: now - 2_000 }, 'since limit_reached'],
    [{ since: now, until: now - 1 }, 'until out_of_range'],
    [{}, 'since required'],
    [{ since: 'yesterday' }, 'since invalid_type'],
    [{ since: -1 }, 'since out_of_range'],
    [{ since: 1, until: 1e12 }, 'until out_of_range'],
    [{ since: 1.5 }, 'since invalid_type']
  ] as const) {
    const refused = await stage.ask('POST', path, body)
    expect([body, refused.status, errorsOf(refused)]).toEqual([body, 400, [field]])
  }
  expect((await stage.ask('POST', path, { since: now - 900 })).status).toBe(200)
})

test('a disabled, draft or retired web hook cannot redeliver', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  await stage.raise()
  await stage.deliver(id)
  const [row] = await readDeliveries(sql, id)
  const refusals = async () => [
    await stage.ask('POST', `webhook/${id}/delivery/${row?.id}/redeliver`),
    await stage.ask('POST', `webhook/${id}/redeliver`, { since: 0 })
  ]
  await stage.ask('PUT', `webhook/${id}/toggle`)
  for (const { status, body } of await refusals())
    expect([status, body.message]).toEqual([400, 'The web hook is disabled.'])
  await stage.ask('PUT', `webhook/${id}`, { is_enabled: true, config: [] })
  for (const { status, body } of await refusals())
    expect([status, body.message]).toEqual([400, 'The web hook is a draft: its config is empty.'])
  await sql`update webhooks set type = 'twitter' where id = ${id}`
  for (const { status, body } of await refusals())
    expect([status, body.message]).toEqual([400, 'The receiving service was shut down.'])
})

test('deliveries older than 30 days are removed with events and attempts, except pending ones', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const other = await stage.make()
  await stage.raise(3)
  await stage.deliver(id)
  const [oldest, old, recent] = await readDeliveries(sql, id)
  const age = async (row: typeof old, ms: number) =>
    sql`update webhook_events set happened_at_ms = ${Date.now() - ms}
      where id = (select event_id from webhook_deliveries where id = ${row?.id ?? 0})`
  await age(oldest, 31 * dayMs)
  await age(old, 31 * dayMs)
  await age(recent, 29 * dayMs)
  // The other web hook has got the oldest event as well; the second is pending.
  await sql`
    update webhook_deliveries set state = 'delivered' where webhook_id = ${other.id}
      and event_id = (select event_id from webhook_deliveries where id = ${oldest?.id ?? 0})`
  // The event of the first, and the delivery of the second.
  expect(await removeOldDeliveries(sql, Date.now(), parseConfig({}))).toBe(2)
  expect((await readDeliveries(sql, id)).map(row => row.id)).toEqual([recent?.id])
  expect(await readDeliveries(sql, other.id)).toHaveLength(2)
  const [left] = await sql`
    select (select count(*) from webhook_events) as events, (select count(*) from webhook_attempts) as attempts`
  expect(left).toEqual({ events: 2, attempts: 1 })
  expect(await removeOldDeliveries(sql, Date.now(), parseConfig({}))).toBe(0)
})
