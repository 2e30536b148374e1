import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { errorsOf, openHookStage, valueOf } from '../support/hook-stage.ts'

describe('tokens in the address of a web hook', () => {
  const token = 'T0KEN-in-query'
  const inPath = 'T0KEN-in-path'

  test('are never shown, and the path is shown only to keys that may set it', async ({ sql, redisUrl }) => {
    const stage = await openHookStage(sql, redisUrl)
    const base = stage.receiver.url
    const webhook_url = `${base}/hooks/${inPath}?token=${token}`
    const made = await stage.make({ config: { webhook_url } })
    stage.receiver.respondWith((_, response) => response.end(`no such hook: /hooks/${inPath}, ${token}`))
    await stage.raise()
    await stage.deliver(made.id)
    const tested = await stage.ask('PUT', `webhook/${made.id}/test`)
    expect(tested.body.received.response).toBe('no such hook: …, …')

    const viewer = await stage.makeKey(['view all'])
    const places = ['webhooks', `webhook/${made.id}`, `webhook/${made.id}/deliveries`]
    const [delivery] = (await stage.ask('GET', places[2] ?? '')).body
    places.push(`webhook/${made.id}/delivery/${delivery.id}`)
    for (const place of places) {
      const ofViewer = JSON.stringify((await stage.askAs(viewer, 'GET', stage.below(place))).body)
      const ofManager = JSON.stringify((await stage.ask('GET', place)).body)
      expect([place, ofViewer.includes(token), ofViewer.includes(inPath)]).toEqual([place, false, false])
      expect([place, ofManager.includes(token), ofManager.includes(inPath)]).toEqual([place, false, true])
      expect(ofViewer).toContain(`${base}/…`)
    }
    expect(JSON.stringify([made, tested.body])).not.toContain(token)
    const { body } = await stage.ask('GET', `webhook/${made.id}`)
    expect(valueOf(body.config, 'webhook_url')).toBe(`${base}/hooks/${inPath}?…`)
  })

  test('stay when the redacted address is sent back', async ({ sql, redisUrl }) => {
    const stage = await openHookStage(sql, redisUrl)
    const webhook_url = `${stage.receiver.url}/hooks?token=${token}`
    const { id } = await stage.make({ config: { webhook_url } })
    const stored = async () => {
      const [row] = await sql<{ config: { key: string; value: unknown }[] }[]>`
        select config from webhooks where id = ${id}`
      return valueOf(row?.config ?? [], 'webhook_url')
    }
    const { body } = await stage.ask('GET', `webhook/${id}`)
    expect((await stage.ask('PUT', `webhook/${id}`, { ...body, name: 'Other' })).status).toBe(200)
    expect(await stored()).toBe(webhook_url)
    for (const address of ['http://127.0.0.2/hooks?…', `${stage.receiver.url}/other?…`]) {
      const refused = await stage.ask('PUT', `webhook/${id}`, { config: { webhook_url: address } })
      expect([refused.status, errorsOf(refused)]).toEqual([400, ['config.webhook_url invalid_url']])
    }
    expect(await stored()).toBe(webhook_url)
    const open = `${stage.receiver.url}/open`
    expect((await stage.ask('PUT', `webhook/${id}`, { config: { webhook_url: open } })).status).toBe(200)
    expect(valueOf((await stage.ask('GET', `webhook/${id}`)).body.config, 'webhook_url')).toBe(open)
  })
})
