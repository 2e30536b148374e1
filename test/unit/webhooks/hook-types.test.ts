import * as fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { triggerNames } from '../../../src/model/station/triggers.ts'
import type { DeliveryContent } from '../../../src/webhooks/types/delivery-content.ts'
import { getHookType, hookTypes } from '../../../src/webhooks/types/hook-types.ts'
import { aStation } from '../../support/builders.ts'
import { aPlayingStation, nowPlayingOf, sendingOf, hostileText } from '../../support/hook-events.ts'
import { sized } from '../../support/tier.ts'

const title = '{{ now_playing.song.title }} / {{ now_playing.song.artist }}'
/** A config of every type that delivers, with all its templates. */
const configs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  generic: { webhook_url: 'https://hooks.example' },
  email: { to: 'dj@example.com', subject: title, message: title },
  discord: {
    webhook_url: 'https://hooks.example/api/webhooks/1/word',
    content: title,
    title,
    description: title,
    author: title,
    footer: title,
    url: `https://x.example/?q=${title}`
  },
  telegram: { bot_token: '1:word', chat_id: '@radio', text: title },
  groupme: { bot_id: 'word', text: title },
  mastodon: { instance_url: 'https://social.example', access_token: 'word', message: title },
  bluesky: { handle: 'radio.example', app_password: 'word', message: title },
  tunein: { station_id: 's1', partner_id: 'p1', partner_key: 'word' },
  radiode: { broadcastsubdomain: 'radio', apikey: 'word' },
  radioreg: { webhookurl: 'https://hooks.example', apikey: 'word', send_cover_art: true },
  getmeradio: { token: 'word', station_id: '7' },
  google_analytics_v4: { api_secret: 'word', measurement_id: 'G-1' },
  matomo_analytics: { matomo_url: 'https://stats.example', site_id: 1 }
}
const delivering = hookTypes.filter(({ isRetired }) => !isRetired).map(({ name }) => name)
const configOf = (type: string) => configs[type] ?? {}

/** The same with a secret in each secret setting and in the queries of its addresses. */
function secretConfigOf(type: string, secret: string) {
  const { settings, urls } = getHookType(type)
  const config: Record<string, unknown> = { ...configOf(type) }
  for (const [key, { kind }] of Object.entries(settings)) if (kind === 'secret') config[key] = secret
  for (const key of urls) config[key] = `https://own.example/base?key=${secret}#${secret}`
  if (type === 'generic') {
    config['headers'] = `X-Key: ${secret}`
    config['signing_secret'] = `whsec_${Buffer.from(secret).toString('base64')}`
  }
  if (type === 'discord') config['webhook_url'] = `https://hooks.example/api/webhooks/1/${secret}?wait=true`
  return config
}

/** All requests, including those of a session. */
function requestsOf(sending: DeliveryContent) {
  const session = JSON.stringify({ did: 'did:plc:a', accessJwt: 'b' })
  if (sending.kind === 'session') return [sending.open, ...sending.requestsIn(session)]
  return sending.kind === 'requests' ? sending.requests : []
}

afterEach(() => {
  vi.useRealTimers()
})

test('the table has every type that delivers', () => {
  expect(Object.keys(configs)).toEqual(delivering)
})

describe.for(delivering)('%s', type => {
  test('sends the same request for the same event at any time', () => {
    const [first, second] = [0, 2_000_000_000_000].map(now => {
      vi.useFakeTimers({ now, toFake: ['Date'] })
      const sending = sendingOf(type, configOf(type))
      return { ...sending, requests: requestsOf(sending) }
    })
    expect(first).not.toMatchObject({ kind: 'nothing' })
    expect(JSON.stringify(first)).toBe(JSON.stringify(second))
  })

  test('shows no secret in its redacted URLs', () => {
    const word = fc.string({
      unit: fc.constantFrom(...Array.from('abcXYZ0189_-')),
      minLength: 32,
      maxLength: 60
    })
    fc.assert(
      fc.property(word, secret => {
        const sent = requestsOf(sendingOf(type, secretConfigOf(type, secret)))
        // Mails have no URL.
        expect(JSON.stringify(sent).includes(secret)).toBe(type !== 'email')
        for (const { redactedUrl, url } of sent) {
          expect(redactedUrl).not.toContain(secret)
          expect(redactedUrl).toMatch(/^https:\/\/[a-z0-9.-]+(\/[A-Za-z0-9.…_-]*)*$/)
          expect(redactedUrl.split('/', 3)).toEqual(url.split('/', 3))
        }
      }),
      { numRuns: sized({ quick: 10, deep: 100 }) }
    )
  })

  test('sends nothing for triggers that it does not support', () => {
    const unknown = triggerNames.filter(trigger => !getHookType(type).triggers.includes(trigger))
    const sending = sendingOf(type, configOf(type), { triggers: unknown })
    expect(sending).toEqual({
      kind: 'nothing',
      reason: 'The type does not support the triggers of the event.'
    })
    expect(sendingOf(type, configOf(type), { triggers: triggerNames }).kind).not.toBe('nothing')
  })

  test('sends nothing with an incomplete config', () => {
    const required = Object.entries(getHookType(type).settings).filter(
      ([, { fallback }]) => fallback === undefined
    )
    const sendings = required.map(([key]) => sendingOf(type, { ...configOf(type), [key]: undefined }))
    const reason = 'The config is incomplete.'
    expect(sendings.length).toBeGreaterThan(0)
    expect(sendings).toEqual(required.map(() => ({ kind: 'nothing', reason })))
  })

  test('sends well-formed requests to the same URL for any title', () => {
    const places = (sending: DeliveryContent) =>
      requestsOf(sending).map(({ url }) => url.replace(/\?.*/s, ''))
    const usual = places(sendingOf(type, configOf(type)))
    fc.assert(
      fc.property(hostileText, hostileText, (name, artist) => {
        const nowPlaying = nowPlayingOf(aPlayingStation({ title: name, artist }))
        const sending = sendingOf(type, configOf(type), { nowPlaying })
        expect(places(sending)).toEqual(usual)
        for (const { url, headers, body } of requestsOf(sending)) {
          expect(url).toMatch(/^https:\/\/[\x21-\x7e]+$/)
          expect(Object.values(headers).join('')).toMatch(/^[\x20-\x7e]*$/)
          expect(JSON.parse(body ?? '{}')).toEqual(expect.any(Object))
        }
      }),
      { numRuns: sized({ quick: 15, deep: 300 }) }
    )
  })
})

test('directories and statistics get nothing while no song plays', () => {
  const silent = { nowPlaying: nowPlayingOf(aStation({ shown: null })) }
  for (const type of delivering.slice(delivering.indexOf('tunein')))
    expect(sendingOf(type, configOf(type), silent)).toEqual({
      kind: 'nothing',
      reason: 'No song is playing.'
    })
})

test('retired types send nothing', () => {
  for (const type of ['twitter', 'google_analytics'])
    expect(sendingOf(type, { token: 'x' })).toEqual({
      kind: 'nothing',
      reason: 'The service no longer exists.'
    })
})
