import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished } from 'vitest'

import { findFreePort } from '../../src/platform/process/ports.ts'
import { test } from '../support/fixtures.ts'
import { openHookStage, valueOf } from '../support/hook-stage.ts'
import { readAttempts, readDeliveries } from '../support/hooks.ts'
import { startMailServer } from '../support/mail-server.ts'
import { waitFor } from '../support/wait.ts'

test('a test sends the current state, and returns what was sent and received', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = { webhook_url: `${stage.receiver.url}/hook?key=hunter2`, timeout: 5 }
  const hook = await stage.make({ triggers: ['live_disconnect', 'live_connect'], config })
  stage.receiver.respondWith('welcome')
  const { status, body } = await stage.ask('PUT', `webhook/${hook.id}/test`)
  expect(status).toBe(200)
  const [asked] = stage.receiver.asked
  expect(stage.receiver.asked).toHaveLength(1)
  expect(JSON.parse(asked?.body ?? '')).toMatchObject({
    station: { id: stage.stationId },
    now_playing: { song: { title: 'Paper Lanterns' } },
    cache: 'event'
  })
  expect(asked?.headers['x-cuewire-event']).toBe('live_connect')
  new Webhook(String(valueOf(hook.config, 'signing_secret'))).verify(asked?.body ?? '', {
    'webhook-id': String(asked?.headers['webhook-id']),
    'webhook-timestamp': String(asked?.headers['webhook-timestamp']),
    'webhook-signature': String(asked?.headers['webhook-signature'])
  })
  expect(body).toEqual({
    success: true,
    message: 'The message was delivered.',
    formatted_message: 'The message was delivered.',
    sent: [
      {
        method: 'POST',
        url: `${stage.receiver.url}/hook`,
        headers: {
          'content-type': 'application/json',
          'x-cuewire-event': 'live_connect',
          'x-cuewire-station': stage.state.profile.shortName,
          'webhook-id': asked?.headers['webhook-id'],
          'webhook-timestamp': asked?.headers['webhook-timestamp'],
          'webhook-signature': asked?.headers['webhook-signature']
        },
        body: asked?.body
      }
    ],
    received: { status: 200, error: '', duration_ms: expect.any(Number), response: 'welcome' }
  })
})

test('the log of the last test is kept for an hour', async ({ sql, redis, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make({ config: { webhook_url: `${stage.receiver.url}/hook?key=hunter2` } })
  const name = `test-log/webhook_test_${id}`
  expect(await stage.ask('GET', `webhook/${id}/${name}`)).toMatchObject({ status: 404 })
  expect(await stage.ask('PUT', `webhook/${id}/test`)).toMatchObject({ status: 200 })
  for (const path of [`webhook/${id}/${name}`, `webhooks/${id}/${name}`]) {
    const { body } = await stage.ask('GET', path)
    expect(body).toMatchObject({ eof: true, position: null })
    expect(body.contents).toMatch(/^Sent: .*\/hook".*\nReceived: .*\nThe message was delivered\.$/)
    expect(body.contents).not.toContain('hunter2')
  }
  expect(await redis.ttl(`cuewire:webhook-test:${id}`)).toBeGreaterThan(3_500)
  expect(await stage.ask('GET', `webhook/${id}/test-log/webhook_test_0`)).toMatchObject({ status: 404 })
})

test('a test is not counted or logged, and ignores the rate limit and whether the web hook is enabled', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = { webhook_url: `${stage.receiver.url}/hook`, rate_limit: 3_600 }
  const { id } = await stage.make({ config, is_enabled: false })
  const before = await stage.ask('GET', `webhook/${id}`)
  for (const responded of [200, 500]) {
    stage.receiver.respondWith((_, response) => void response.writeHead(responded).end('words'))
    const { status, body } = await stage.ask('PUT', `webhook/${id}/test`)
    expect([status, body.success, body.received.status]).toEqual([200, responded === 200, responded])
  }
  expect(stage.receiver.asked).toHaveLength(2)
  const [one, other] = stage.receiver.asked.map(({ headers }) => headers['webhook-id'])
  expect(one).not.toBe(other)
  expect((await stage.ask('GET', `webhook/${id}`)).body).toEqual(before.body)
  expect(await readDeliveries(sql, id)).toEqual([])
  expect(await readAttempts(sql, id)).toEqual([])
  const audits = await sql`select path from audit_log where path like '%/test'`
  expect(audits).toHaveLength(2)
})

test('no secret is in the answer, however the receiver encodes it', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = {
    webhook_url: `${stage.receiver.url}/hook`,
    basic_auth_username: 'radio',
    basic_auth_password: 'hunter2"word',
    headers: 'X-Token: hunter2 three\r\nUser-Agent: hunter2/4'
  }
  const { id } = await stage.make({ config })
  stage.receiver.respondWith((request, response) => {
    response.end(JSON.stringify([request.headers, 'hunter2"word', encodeURIComponent('hunter2"word')]))
  })
  const { body } = await stage.ask('PUT', `webhook/${id}/test`)
  expect(stage.receiver.asked[0]?.headers['x-token']).toBe('hunter2 three')
  const responded = JSON.stringify(body)
  expect(responded).not.toContain('hunter2')
  expect(responded).not.toContain(Buffer.from('radio:hunter2"word').toString('base64'))
  expect(body.sent[0].headers).toMatchObject({ authorization: '…', 'x-token': '…', 'user-agent': '…' })
})

test('a secret that is part of the address is not in the answer, nor in the log', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { url } = stage.receiver
  const hooks = [
    [
      { type: 'telegram', config: { bot_token: '12345:hunter2', chat_id: '1', text: 'Now', api: url } },
      `${url}/bot…/sendMessage`
    ],
    [
      { type: 'discord', config: { webhook_url: `${url}/api/1/hunter2?wait=true`, title: 'Now' } },
      `${url}/api/webhooks/…`
    ]
  ] as const
  stage.receiver.respondWith(
    (request, response) => void response.writeHead(404).end(`no ${request.url} here`)
  )
  for (const [body, shown] of hooks) {
    const { id } = await stage.make(body)
    const tested = await stage.ask('PUT', `webhook/${id}/test`)
    expect(stage.receiver.asked.at(-1)?.path).toContain('hunter2')
    expect(tested.body).toMatchObject({
      success: false,
      sent: [{ url: shown }],
      received: { error: 'http' }
    })
    expect(JSON.stringify(tested.body)).not.toContain('hunter2')
    await stage.raise()
    await stage.deliver(id)
    const [attempt] = await readAttempts(sql, id)
    expect(attempt).toMatchObject({ url: shown, status: 404 })
    expect(attempt?.response).not.toContain('hunter2')
    await stage.ask('DELETE', `webhook/${id}`)
  }
})

test('a failure is named by a code: connection refused, forbidden address, nothing to send', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const cases = [
    [{ config: { webhook_url: `http://127.0.0.1:${await findFreePort()}/` } }, 'refused', 1],
    [{ config: { webhook_url: `http://127.0.0.1:${stage.receiver.port}/`, timeout: 1 } }, 'timeout', 1],
    [
      { type: 'mastodon', config: { instance_url: stage.receiver.url, access_token: 'hunter2' } },
      'nothing',
      0
    ],
    [{ type: 'email', config: { to: 'dj@example.com', subject: 'Now', message: 'Song' } }, 'config', 0]
  ] as const
  stage.receiver.respondWith(() => {})
  for (const [body, error, sent] of cases) {
    const { id } = await stage.make(body)
    const response = await stage.ask('PUT', `webhook/${id}/test`)
    expect([response.status, response.body.success, response.body.received.error]).toEqual([
      200,
      false,
      error
    ])
    expect(response.body.sent).toHaveLength(sent)
    expect(response.body.message).toBe(`The message was not delivered: ${error}.`)
  }
  // A name may resolve to another address than when it was saved.
  const { id } = await stage.make()
  const moved = [{ key: 'webhook_url', value: 'http://10.0.0.1/' }]
  await sql`update webhooks set config = ${sql.json(moved)} where id = ${id}`
  const { body } = await stage.ask('PUT', `webhook/${id}/test`)
  expect(body.received).toMatchObject({ status: 0, error: 'blocked', response: '' })
})

test('the first trigger with something to send is tested', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const config = {
    instance_url: stage.receiver.url,
    access_token: 'hunter2',
    message_live_connect: 'Live',
    message_station_online: 'Back'
  }
  const { id } = await stage.make({ type: 'mastodon', config })
  const { body } = await stage.ask('PUT', `webhook/${id}/test`)
  expect(body).toMatchObject({ success: true, sent: [{ url: `${stage.receiver.url}/api/v1/statuses` }] })
  expect(stage.receiver.asked.map(each => JSON.parse(each.body).status)).toEqual(['Live'])
})

test('of a mail the recipients, the subject and the text are shown', async ({ sql, redisUrl }) => {
  const smtp = await startMailServer()
  onTestFinished(async () => smtp[Symbol.asyncDispose]())
  const stage = await openHookStage(sql, redisUrl, { SMTP_URL: smtp.url, MAIL_FROM: 'radio@example.com' })
  const to = 'dj@example.com, office@example.com'
  const config = { to, subject: 'Now', message: '{{ now_playing.song.title }}' }
  const { id } = await stage.make({ type: 'email', triggers: ['song_changed'], config })
  const { body } = await stage.ask('PUT', `webhook/${id}/test`)
  expect(body).toMatchObject({
    success: true,
    sent: [
      {
        method: 'MAIL',
        url: 'mailto:dj@example.com,office@example.com',
        headers: { subject: 'Now' },
        body: 'Paper Lanterns'
      }
    ],
    received: { status: 250, error: '', response: expect.stringMatching(/^250 /) }
  })
  const [mail] = smtp.received
  expect(mail?.to).toEqual(['dj@example.com', 'office@example.com'])
  expect(mail?.text).toContain('Subject: Now')
})

test('a draft and a retired hook cannot be tested', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const draft = await stage.make({ config: undefined })
  const retired = await stage.make({ type: 'twitter', config: { a: 1 } })
  const responses = await Promise.all(
    [draft, retired].map(async ({ id }) => stage.ask('PUT', `webhook/${id}/test`))
  )
  expect(responses.map(({ status, body }) => [status, body.message])).toEqual([
    [400, 'The web hook is a draft: its config is empty.'],
    [400, 'The receiving service was shut down.']
  ])
})

test('a web hook has one test at a time, also after its client has disconnected', async ({
  sql,
  redisUrl
}) => {
  const stage = await openHookStage(sql, redisUrl)
  const { id } = await stage.make({ config: { webhook_url: stage.receiver.url, timeout: 30 } })
  let release = () => {}
  stage.receiver.respondWith((_, response) => (release = () => void response.end('done')))
  const first = stage.ask('PUT', `webhook/${id}/test`)
  await waitFor(() => stage.receiver.asked.length === 1, { deadlineMs: 5_000, what: 'the first test' })
  expect((await stage.ask('PUT', `webhook/${id}/test`)).status).toBe(409)
  release()
  expect((await first).body.received.response).toBe('done')

  const leaving = new AbortController()
  const key = await stage.makeKey(['manage station web hooks'])
  const left = fetch(stage.base + stage.below(`webhook/${id}/test`), {
    method: 'PUT',
    headers: { 'X-API-Key': key },
    signal: leaving.signal
  }).catch(() => 'left')
  await waitFor(() => stage.receiver.asked.length === 2, { deadlineMs: 5_000, what: 'the second test' })
  leaving.abort()
  expect(await left).toBe('left')
  stage.receiver.respondWith('third')
  const third = await waitFor(
    async () => {
      const response = await stage.askAs(key, 'PUT', stage.below(`webhook/${id}/test`))
      return response.status === 200 && response
    },
    { deadlineMs: 10_000, what: 'the hook to be free' }
  )
  expect(third.body.received.response).toBe('third')
})

test('a key is limited to a few tests per second', async ({ sql, redisUrl }) => {
  const stage = await openHookStage(sql, redisUrl)
  const hooks = await Promise.all(Array.from({ length: 12 }, async () => stage.make()))
  const tryOut = async (key: string, { id }: { id: number }) =>
    stage.askAs(key, 'PUT', stage.below(`webhook/${id}/test`))
  const [one, other] = [
    await stage.makeKey(['manage station web hooks']),
    await stage.makeKey(['manage station web hooks'])
  ]
  const responses = await Promise.all(hooks.map(async hook => tryOut(one, hook)))
  const refused = responses.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(responses.length - refused.length).toBeGreaterThanOrEqual(5)
  expect(refused[0]?.headers.get('retry-after')).toBe('1')
  expect(stage.receiver.asked).toHaveLength(responses.length - refused.length)
  expect((await tryOut(other, hooks[0])).status).toBe(200)
})
