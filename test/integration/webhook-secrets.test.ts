import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { errorsOf, type HookStage, openHookStage, valueOf } from '../support/hook-stage.ts'

const dayMs = 86_400_000
const own = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`

/** The secrets that signed the last request. */
async function signersOf(stage: HookStage, id: number, secrets: readonly unknown[]): Promise<boolean[]> {
  const { body } = await stage.ask('PUT', `webhook/${id}/test`)
  expect(body.success).toBe(true)
  const asked = stage.receiver.asked.at(-1)
  const headers = {
    'webhook-id': String(asked?.headers['webhook-id']),
    'webhook-timestamp': String(asked?.headers['webhook-timestamp']),
    'webhook-signature': String(asked?.headers['webhook-signature'] ?? '')
  }
  return secrets.map(secret => {
    try {
      new Webhook(String(secret)).verify(asked?.body ?? '', headers)
      return true
    } catch {
      return false
    }
  })
}

/** Moves the expiry of former secrets to the past. */
const passDay = async ({ sql }: HookStage, id: number) =>
  sql`update webhooks set former_secret_until_ms = former_secret_until_ms - ${dayMs} where id = ${id}`

test('a rotated secret is shown once; the former one also signs for a day', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id, config } = await stage.make()
  const first = valueOf(config, 'signing_secret')
  const { status, body } = await stage.ask('POST', `webhook/${id}/rotate-secret`)
  const said = 'The signing secret was replaced.'
  expect([status, body]).toEqual([
    200,
    {
      success: true,
      message: said,
      formatted_message: said,
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      former_until: expect.any(Number)
    }
  ])
  expect(Math.abs(body.former_until - Date.now() / 1000 - 86_400)).toBeLessThan(10)
  expect(body.signing_secret).not.toBe(first)
  const read = await stage.ask('GET', `webhook/${id}`)
  expect(JSON.stringify(read.body)).not.toContain('whsec_')
  expect(await signersOf(stage, id, [body.signing_secret, first])).toEqual([true, true])
  await stage.raise()
  await stage.deliver(id)
  expect(String(stage.receiver.asked.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(2)
  await passDay(stage, id)
  expect(await signersOf(stage, id, [body.signing_secret, first])).toEqual([true, false])
  const [stored] =
    await sql`select config::text || coalesce(former_secret, '') as text from webhooks where id = ${id}`
  expect(stored?.['text']).not.toContain('whsec_')
  const [audit] = await sql`select fields from audit_log where path like '%/rotate-secret'`
  expect(audit?.['fields']).toEqual(['config'])
})

test('after two rotations only the last two secrets sign', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id, config } = await stage.make()
  const rotate = async () => (await stage.ask('POST', `webhook/${id}/rotate-secret`)).body.signing_secret
  const secrets = [valueOf(config, 'signing_secret'), await rotate(), await rotate()]
  expect(await signersOf(stage, id, secrets)).toEqual([false, true, true])
})

test('of two concurrent rotations the second replaces the secret of the first', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const responses = await Promise.all(
    [1, 2].map(async () => stage.ask('POST', `webhook/${id}/rotate-secret`))
  )
  expect(responses.map(({ status }) => status)).toEqual([200, 200])
  const secrets = responses.map(({ body }) => body.signing_secret)
  expect(await signersOf(stage, id, secrets)).toEqual([true, true])
})

test('a secret that an operator replaces also signs for a day; null ends both at once', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const webhook_url = `${stage.receiver.url}/hook`
  const { id } = await stage.make({ config: { webhook_url, signing_secret: own(1) } })
  const put = async (parts: object) =>
    stage.ask('PUT', `webhook/${id}`, { config: { webhook_url, ...parts } })
  expect((await put({ signing_secret: own(2) })).status).toBe(200)
  expect(await signersOf(stage, id, [own(1), own(2)])).toEqual([true, true])
  // The same secret, or an absent one, changes nothing.
  for (const parts of [{ signing_secret: own(2) }, { signing_secret: '' }, { timeout: 9 }])
    expect((await put(parts)).status).toBe(200)
  expect(await signersOf(stage, id, [own(1), own(2)])).toEqual([true, true])
  expect((await put({ signing_secret: null })).status).toBe(200)
  expect(await signersOf(stage, id, [own(1), own(2)])).toEqual([false, false])
  expect(stage.receiver.asked.at(-1)?.headers['webhook-signature']).toBeUndefined()
  expect((await put({ signing_secret: own(3) })).status).toBe(200)
  expect(await signersOf(stage, id, [own(1), own(2), own(3)])).toEqual([false, false, true])
})

test('a rotation generates an absent secret, of a draft too; other types have none', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const bare = await stage.make({ config: { webhook_url: stage.receiver.url } })
  await stage.ask('PUT', `webhook/${bare.id}`, {
    config: { webhook_url: stage.receiver.url, signing_secret: null }
  })
  const { body } = await stage.ask('POST', `webhook/${bare.id}/rotate-secret`)
  expect([body.success, body.former_until]).toEqual([true, 0])
  expect(await signersOf(stage, bare.id, [body.signing_secret])).toEqual([true])
  const draft = await stage.make({ config: undefined })
  expect((await stage.ask('POST', `webhook/${draft.id}/rotate-secret`)).status).toBe(200)
  expect(valueOf((await stage.ask('GET', `webhook/${draft.id}`)).body.metadata, 'state')).toBe('draft')
  const mail = await stage.make({ type: 'email', config: undefined })
  const refused = await stage.ask('POST', `webhook/${mail.id}/rotate-secret`)
  expect([refused.status, refused.body.message]).toEqual([
    400,
    'Web hooks of the type email do not sign what they send.'
  ])
})

test('a secret that cannot be opened can be rotated', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make()
  const broken = [
    { key: 'webhook_url', value: `${stage.receiver.url}/hook` },
    { key: 'signing_secret', value: 'v1.broken' }
  ]
  await sql`update webhooks set config = ${sql.json(broken)} where id = ${id}`
  const tested = await stage.ask('PUT', `webhook/${id}/test`)
  expect(tested.body.received).toMatchObject({
    error: 'nothing',
    response: 'A secret of the web hook cannot be opened: enter it again.'
  })
  const { body } = await stage.ask('POST', `webhook/${id}/rotate-secret`)
  expect(body.former_until).toBe(0)
  expect(await signersOf(stage, id, [body.signing_secret])).toEqual([true])
})

test('stored secrets are not sent to a changed address', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { url, port } = stage.receiver
  const secret = { basic_auth_password: 'hunter2', headers: 'X-Token: hunter2' }
  const { id } = await stage.make({ config: { webhook_url: `${url}/a`, ...secret } })
  const put = async (config: object) => stage.ask('PUT', `webhook/${id}`, { config })
  const left = ['config.basic_auth_password required', 'config.headers required']
  for (const elsewhere of [
    `http://127.0.0.2:${port}/a`,
    `https://127.0.0.1:${port}/a`,
    'http://127.0.0.1:2000/a',
    'https://elsewhere.invalid/'
  ]) {
    const refused = await put({ webhook_url: elsewhere })
    expect([elsewhere, refused.status, errorsOf(refused)]).toEqual([elsewhere, 400, left])
    expect(refused.body.message).toBe(
      'config.basic_auth_password must be sent again, because webhook_url points to another server.'
    )
    expect((await put({ webhook_url: elsewhere, ...secret, headers: '' })).status).toBe(400)
  }
  for (const there of [`${url}/b`, `${url}/b?c=d`, ` ${url.replace('http', 'HTTP')}/e`])
    expect((await put({ webhook_url: there })).status).toBe(200)
  const stay = await stage.ask('GET', `webhook/${id}`)
  expect(valueOf(stay.body.config, 'basic_auth_password')).toBe('')
  expect((await put({ webhook_url: 'https://elsewhere.invalid/', ...secret })).status).toBe(200)
  expect((await put({ webhook_url: url, basic_auth_password: null, headers: null })).status).toBe(200)
  expect((await put({ webhook_url: 'https://elsewhere.invalid/' })).status).toBe(200)
})

test('a default address counts as well, and an address that is itself a secret may change', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = { bot_token: '12345:hunter2', chat_id: '1', text: 'Now' }
  const bot = await stage.make({ type: 'telegram', config })
  const { bot_token: _token, ...open } = config
  const moved = await stage.ask('PUT', `webhook/${bot.id}`, { config: { ...open, api: stage.receiver.url } })
  expect([moved.status, errorsOf(moved)]).toEqual([400, ['config.bot_token required']])
  const same = { ...open, api: 'https://api.telegram.org/' }
  expect((await stage.ask('PUT', `webhook/${bot.id}`, { config: same })).status).toBe(200)
  expect((await stage.ask('PUT', `webhook/${bot.id}`, { config: open })).status).toBe(200)
  const chat = await stage.make({
    type: 'discord',
    config: { webhook_url: `${stage.receiver.url}/1`, title: 'Now' }
  })
  for (const webhook_url of ['', 'https://discord.invalid/2'])
    expect(
      (await stage.ask('PUT', `webhook/${chat.id}`, { config: { webhook_url, title: 'x' } })).status
    ).toBe(200)
  expect((await stage.ask('PUT', `webhook/${bot.id}`, { config: [] })).status).toBe(200)
})
