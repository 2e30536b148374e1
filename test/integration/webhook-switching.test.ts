import { expect } from 'vitest'

import { raiseAlert } from '../../src/stores/db/notifications.ts'
import { hookDisabledAlertKey } from '../../src/webhooks/deliveries/deliveries.ts'
import { test } from '../support/fixtures.ts'
import { errorsOf, openHookStage, valueOf } from '../support/hook-stage.ts'
import { readDeliveries } from '../support/hooks.ts'

const statesOf = (rows: readonly { state: string }[]) => rows.map(({ state }) => state)

test('a toggle disables a web hook and cancels pending deliveries, and enables it again', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  await stage.raise(3)
  const pending = async () => valueOf((await stage.ask('GET', `webhook/${id}`)).body.metadata, 'pending')
  expect(await pending()).toBe(3)

  const off = await stage.ask('PUT', `webhook/${id}/toggle`)
  const said = 'Web hook disabled.'
  expect([off.status, off.body]).toEqual([200, { success: true, message: said, formatted_message: said }])
  expect(statesOf(await readDeliveries(sql, id))).toEqual(['cancelled', 'cancelled', 'cancelled'])
  expect(await pending()).toBe(0)
  await stage.raise()
  expect(await readDeliveries(sql, id)).toHaveLength(3)

  const on = await stage.ask('PUT', `webhook/${id}/toggle`)
  expect([on.status, on.body.message]).toEqual([200, 'Web hook enabled.'])
  expect((await stage.ask('GET', `webhook/${id}`)).body.is_enabled).toBe(true)
  await stage.deliver(id)
  expect(stage.receiver.asked).toEqual([])
  const audits =
    await sql`select path, fields from audit_log where record_id = ${String(id)} and method = 'PUT'`
  expect(audits.map(({ fields }) => fields)).toEqual([['is_enabled'], ['is_enabled']])
})

test('pending deliveries are cancelled when a change disables a web hook or makes it a draft', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  for (const change of [{ is_enabled: false }, { config: [] }]) {
    const { id } = await stage.make()
    await stage.raise(2)
    expect((await stage.ask('PUT', `webhook/${id}`, { name: 'Other' })).status).toBe(200)
    expect(statesOf(await readDeliveries(sql, id))).toEqual(['pending', 'pending'])
    expect((await stage.ask('PUT', `webhook/${id}`, change)).status).toBe(200)
    expect(statesOf(await readDeliveries(sql, id))).toEqual(['cancelled', 'cancelled'])
    await stage.ask('DELETE', `webhook/${id}`)
  }
})

test('enabling resets failures and the alert, by a toggle and by a change', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const trouble = {
    key: hookDisabledAlertKey(id),
    title: 'Off',
    body: '',
    type: 'warning',
    source: 'webhooks'
  } as const
  for (const [path, body] of [
    [`webhook/${id}/toggle`, undefined],
    [`webhook/${id}`, { is_enabled: true }]
  ] as const) {
    await sql`
      update webhooks set is_enabled = false, is_auto_disabled = true, consecutive_failures = 100,
        failing_since_ms = 1, pauses = 7, paused_until_ms = 9e15 where id = ${id}`
    expect(await raiseAlert(sql, trouble)).toBe(true)
    expect(await raiseAlert(sql, trouble)).toBe(false)
    expect(valueOf((await stage.ask('GET', `webhook/${id}`)).body.metadata, 'state')).toBe('auto_disabled')
    expect((await stage.ask('PUT', path, body)).status).toBe(200)
    const { metadata } = (await stage.ask('GET', `webhook/${id}`)).body
    expect([valueOf(metadata, 'state'), valueOf(metadata, 'consecutive_failures')]).toEqual(['active', 0])
    await stage.raise()
    await stage.deliver(id)
  }
  expect(stage.receiver.asked).toHaveLength(2)
  expect(statesOf(await readDeliveries(sql, id))).toEqual(['delivered', 'delivered'])
})

test('a web hook that is deleted while it is disabled automatically leaves no alert', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  await sql`insert into open_facts (fact) values (${hookDisabledAlertKey(id)})`
  expect((await stage.ask('DELETE', `webhook/${id}`)).status).toBe(200)
  expect(await sql`select from open_facts where fact = ${hookDisabledAlertKey(id)}`).toHaveLength(0)
})

test('two concurrent toggles both take effect', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const responses = await Promise.all(
    Array.from({ length: 6 }, async () => stage.ask('PUT', `webhook/${id}/toggle`))
  )
  const said = responses.map(({ body }) => String(body.message))
  for (const message of ['Web hook disabled.', 'Web hook enabled.'])
    expect(said.filter(each => each === message)).toHaveLength(3)
  expect((await stage.ask('GET', `webhook/${id}`)).body.is_enabled).toBe(true)
})

test('a copy has its own name, no secrets but a generated one that is shown once, and is disabled', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = {
    webhook_url: `${stage.receiver.url}/hook`,
    timeout: 5,
    basic_auth_password: 'hunter2',
    headers: 'X-A: hunter2'
  }
  const original = await stage.make({ name: 'x'.repeat(99), triggers: ['live_connect'], config })
  const { status, body } = await stage.ask('POST', `webhook/${original.id}/clone`)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    name: `${'x'.repeat(93)} (Copy)`,
    type: 'generic',
    is_enabled: false,
    triggers: ['live_connect'],
    config: [
      { key: 'webhook_url', value: config.webhook_url },
      { key: 'timeout', value: 5 },
      { key: 'signing_secret', value: expect.stringMatching(/^whsec_/) }
    ]
  })
  expect(body.id).not.toBe(original.id)
  expect(valueOf(body.config, 'signing_secret')).not.toBe(valueOf(original.config, 'signing_secret'))
  const read = await stage.ask('GET', `webhook/${body.id}`)
  expect(JSON.stringify(read.body)).not.toMatch(/whsec_|hunter2/)
  expect(valueOf(read.body.metadata, 'state')).toBe('active')
  expect((await stage.ask('PUT', `webhook/${body.id}/toggle`)).status).toBe(200)
})

test('a copy that lacks a required secret cannot be enabled without it', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = { bot_token: '12345:hunter2', chat_id: '1', text: 'Now', api: stage.receiver.url }
  const original = await stage.make({ type: 'telegram', name: 'Bot', config })
  const { body: copy } = await stage.ask('POST', `webhook/${original.id}/clone`)
  expect([copy.name, valueOf(copy.metadata, 'state')]).toEqual(['Bot (Copy)', 'active'])
  for (const [path, change] of [
    ['/toggle', undefined],
    ['', { is_enabled: true }]
  ] as const) {
    const refused = await stage.ask('PUT', `webhook/${copy.id}${path}`, change)
    expect([refused.status, errorsOf(refused)]).toEqual([400, ['config.bot_token required']])
  }
  expect((await stage.ask('PUT', `webhook/${copy.id}`, { name: 'Second' })).status).toBe(200)
  const whole = await stage.ask('PUT', `webhook/${copy.id}`, { is_enabled: true, config })
  expect(whole.status).toBe(200)
})

test('a copy of a draft is a draft, of a retired hook a retired one', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const draft = await stage.make({ type: 'email', config: undefined })
  const retired = await stage.make({ type: 'twitter', config: { anything: 1, token_secret: 'hunter2' } })
  const copies = await Promise.all(
    [draft, retired].map(async ({ id }) => (await stage.ask('POST', `webhook/${id}/clone`)).body)
  )
  expect(copies.map(({ metadata, config }) => [valueOf(metadata, 'state'), config])).toEqual([
    ['draft', []],
    ['retired', [{ key: 'anything', value: 1 }]]
  ])
  expect((await stage.ask('PUT', `webhook/${copies[0]?.id}/toggle`)).status).toBe(200)
})
