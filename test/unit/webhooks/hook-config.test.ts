import { assert, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { NamedChange, NamedValue } from '../../../src/model/fields/named-values.ts'
import { openSecrets } from '../../../src/stores/secrets/secrets.ts'
import { mergeHookConfig } from '../../../src/webhooks/hook-config-change.ts'
import {
  type HookConfig,
  isDraftConfig,
  unsealHookConfig,
  redactHookConfig,
  addGeneratedSettings
} from '../../../src/webhooks/hook-config.ts'
import { hookTypeNames, getHookType, hookTypes } from '../../../src/webhooks/types/hook-types.ts'

const secrets = openSecrets(new Uint8Array(32))
type Values = Readonly<Record<string, NamedChange['value']>>
const listed = (values: Values): NamedChange[] =>
  Object.entries(values).map(([key, value]) => ({ key, value }))
const settle = (type: string, values: Values, stored: HookConfig = []) =>
  mergeHookConfig(getHookType(type), listed(values), stored, secrets)
const codes = (type: string, values: Values, stored: HookConfig = []) =>
  settle(type, values, stored).problems.map(({ field, code }) => `${field} ${code}`)
const opened = (config: HookConfig) =>
  Object.fromEntries(
    config.map(({ key, value }) => {
      const isSealed = typeof value === 'string' && value.startsWith('v1.')
      return [key, isSealed ? secrets.open(value, `webhooks.config.${key}`) : value]
    })
  )

const signingSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const url = 'https://example.com/hook'
const messages = {
  message: 'On air: {{ now_playing.song.title }}',
  message_song_changed_live: 'Live\nnow',
  message_live_connect: '',
  message_live_disconnect: 'x'.repeat(500),
  message_station_offline: 'Off',
  message_station_online: 'On'
}
const badMessages: [string, NamedValue['value'], string][] = Object.keys(messages).flatMap(key => [
  [key, 'x'.repeat(501), 'too_long'],
  [key, 5, 'invalid_type']
])

interface Case {
  readonly type: string
  /** A minimal config: each setting is required. */
  readonly minimal: Values
  /** All other keys but `rate_limit`. */
  readonly rest: Values
  readonly secret: readonly string[]
  readonly bad: readonly (readonly [key: string, value: NamedValue['value'], code: string])[]
  readonly triggers: number
}

const cases: readonly Case[] = [
  {
    type: 'generic',
    minimal: { webhook_url: url },
    rest: {
      basic_auth_username: 'dj',
      basic_auth_password: ' pass word ',
      timeout: 30,
      signing_secret: signingSecret,
      headers: 'Authorization: Bearer x\r\nX-Empty:\n\nX-Other: y'
    },
    secret: ['basic_auth_password', 'signing_secret', 'headers'],
    bad: [
      ['webhook_url', '', 'blank'],
      ['webhook_url', 'no url', 'invalid_url'],
      ['webhook_url', 'http://a b.example/', 'invalid_url'],
      ['webhook_url', 5, 'invalid_type'],
      ['webhook_url', `${url}?${'x'.repeat(2_048)}`, 'too_long'],
      ['basic_auth_username', 'a\nb', 'invalid_format'],
      ['basic_auth_username', 'x'.repeat(256), 'too_long'],
      ['basic_auth_password', 5, 'invalid_type'],
      ['timeout', 0, 'out_of_range'],
      ['timeout', 31, 'out_of_range'],
      ['timeout', 1.5, 'invalid_type'],
      ['timeout', 'soon', 'invalid_type'],
      ['timeout', true, 'invalid_type'],
      ['signing_secret', 'hunter2', 'invalid_format'],
      ['signing_secret', `whsec_${Buffer.alloc(23).toString('base64')}`, 'invalid_format'],
      ['signing_secret', `whsec_${Buffer.alloc(65).toString('base64')}`, 'invalid_format'],
      ['headers', 'no colon', 'invalid_format'],
      ['headers', 'Transfer-Encoding: chunked', 'invalid_format']
    ],
    triggers: 8
  },
  {
    type: 'email',
    minimal: { to: 'dj@example.com, office@example.com', subject: 'Now', message: 'On\nair' },
    rest: {},
    secret: [],
    bad: [
      ['to', '', 'blank'],
      ['to', 'nobody', 'invalid_format'],
      ['to', 'dj@example.com,', 'invalid_format'],
      ['to', 'dj@example.com\nBcc: x@example.com', 'invalid_format'],
      ['to', Array<string>(21).fill('dj@example.com').join(), 'too_long'],
      ['subject', 'x'.repeat(201), 'too_long'],
      ['subject', 'a\r\nBcc: x@example.com', 'invalid_format'],
      ['message', 'x'.repeat(10_001), 'too_long'],
      ['message', false, 'invalid_type']
    ],
    triggers: 8
  },
  {
    type: 'discord',
    minimal: { webhook_url: 'https://discord.example/api/webhooks/1/word' },
    rest: {
      content: '{{ now_playing.song.text }}',
      title: 'x'.repeat(10_000),
      description: 'Two\nlines',
      url: '{{ station.listen_url }}',
      author: '',
      thumbnail: '{{ now_playing.song.art }}',
      footer: 'Radio',
      color: '#fF0012',
      include_timestamp: false
    },
    secret: ['webhook_url'],
    bad: [
      ['webhook_url', 'discord', 'invalid_url'],
      ['content', 'x'.repeat(10_001), 'too_long'],
      ['title', 5, 'invalid_type'],
      ['description', true, 'invalid_type'],
      ['url', 5, 'invalid_type'],
      ['author', 5, 'invalid_type'],
      ['thumbnail', 5, 'invalid_type'],
      ['footer', 'a\0b', 'invalid_format'],
      ['color', 'orange!', 'invalid_format'],
      ['color', '#12345', 'invalid_format'],
      ['include_timestamp', 'maybe', 'invalid_type']
    ],
    triggers: 6
  },
  {
    type: 'telegram',
    minimal: { bot_token: '1:word', chat_id: '@radio', text: 'On air' },
    rest: { api: 'https://bots.example', parse_mode: 'HTML' },
    secret: ['bot_token'],
    bad: [
      ['bot_token', 5, 'invalid_type'],
      ['chat_id', ' ', 'blank'],
      ['chat_id', 'x'.repeat(256), 'too_long'],
      ['api', 'bots', 'invalid_url'],
      ['text', '', 'blank'],
      ['parse_mode', 'MarkdownV2', 'not_in_enum']
    ],
    triggers: 6
  },
  {
    type: 'groupme',
    minimal: { bot_id: 'word', text: 'On air' },
    rest: { api: 'https://groups.example/v3' },
    secret: ['bot_id'],
    bad: [
      ['bot_id', ' ', 'blank'],
      ['api', 'groups', 'invalid_url'],
      ['text', '', 'blank']
    ],
    triggers: 6
  },
  {
    type: 'mastodon',
    minimal: { instance_url: 'https://social.example', access_token: 'word' },
    rest: { visibility: 'direct', ...messages },
    secret: ['access_token'],
    bad: [
      ['instance_url', 'social', 'invalid_url'],
      ['access_token', true, 'invalid_type'],
      ['access_token', 'wörd', 'invalid_format'],
      ['visibility', 'secret', 'not_in_enum'],
      ...badMessages
    ],
    triggers: 6
  },
  {
    type: 'bluesky',
    minimal: { handle: 'radio.example', app_password: 'word' },
    rest: messages,
    secret: ['app_password'],
    bad: [['handle', '', 'blank'], ['app_password', 5, 'invalid_type'], ...badMessages],
    triggers: 6
  },
  {
    type: 'tunein',
    minimal: { station_id: 's1', partner_id: 'p1', partner_key: 'word' },
    rest: {},
    secret: ['partner_key'],
    bad: [
      ['station_id', '', 'blank'],
      ['partner_id', 5, 'invalid_type'],
      ['partner_key', ' ', 'blank']
    ],
    triggers: 1
  },
  {
    type: 'radiode',
    minimal: { broadcastsubdomain: 'radio', apikey: 'word' },
    rest: {},
    secret: ['apikey'],
    bad: [
      ['broadcastsubdomain', '', 'blank'],
      ['apikey', 5, 'invalid_type']
    ],
    triggers: 1
  },
  {
    type: 'radioreg',
    minimal: { webhookurl: url, apikey: 'word' },
    rest: { send_cover_art: true },
    secret: ['apikey'],
    bad: [
      ['webhookurl', '/hook', 'invalid_url'],
      ['apikey', 5, 'invalid_type'],
      ['apikey', 'two words', 'invalid_format'],
      ['send_cover_art', 2, 'invalid_type']
    ],
    triggers: 1
  },
  {
    type: 'getmeradio',
    minimal: { token: 'word', station_id: '7' },
    rest: {},
    secret: ['token'],
    bad: [
      ['token', 5, 'invalid_type'],
      ['station_id', '', 'blank']
    ],
    triggers: 1
  },
  {
    type: 'google_analytics_v4',
    minimal: { api_secret: 'word', measurement_id: 'G-1' },
    rest: {},
    secret: ['api_secret'],
    bad: [
      ['api_secret', 5, 'invalid_type'],
      ['measurement_id', '', 'blank']
    ],
    triggers: 1
  },
  {
    type: 'matomo_analytics',
    minimal: { matomo_url: 'https://stats.example', site_id: 1 },
    rest: { token: 'word' },
    secret: ['token'],
    bad: [
      ['matomo_url', 'stats', 'invalid_url'],
      ['site_id', 0, 'out_of_range'],
      ['site_id', '', 'invalid_type'],
      ['site_id', 'one', 'invalid_type'],
      ['token', 5, 'invalid_type']
    ],
    triggers: 1
  }
]

test('the table has every type that delivers, and each of its settings', () => {
  const delivering = hookTypes.filter(({ isRetired }) => !isRetired)
  expect(cases.map(({ type }) => type)).toEqual(delivering.map(({ name }) => name))
  for (const { type, minimal, rest } of cases) {
    const keys = [...Object.keys(minimal), ...Object.keys(rest), 'rate_limit']
    expect(keys.toSorted()).toEqual(Object.keys(getHookType(type).settings).toSorted())
  }
  expect(hookTypeNames).toHaveLength(15)
})

describe.for(cases.map(each => [each.type, each] as const))('a config of %s', ([type, each]) => {
  const { minimal, rest, secret, bad } = each
  const full = { ...minimal, ...rest, rate_limit: 86_400 }

  test('is stored as sent, in its order, without defaults; secrets are sealed and read empty', () => {
    for (const values of [minimal, full, Object.fromEntries(Object.entries(full).toReversed())]) {
      const { config, problems } = settle(type, values)
      expect(problems).toEqual([])
      expect(opened(config)).toEqual(values)
      expect(unsealHookConfig(getHookType(type), config, secrets)).toEqual(values)
      const shown = listed(values).map(({ key, value }) => ({
        key,
        value: secret.includes(key) ? '' : value
      }))
      expect(redactHookConfig(getHookType(type), config, true)).toEqual(shown)
      const sealed = config.filter(({ value }) => String(value).startsWith('v1.')).map(({ key }) => key)
      expect(sealed.toSorted()).toEqual(secret.filter(key => Object.hasOwn(values, key)).toSorted())
    }
  })

  test('requires its required settings, and reports all that are missing at once', () => {
    const required = Object.keys(minimal)
    expect(codes(type, { rate_limit: 5 })).toEqual(required.map(key => `config.${key} required`))
    for (const key of required) {
      const others = Object.fromEntries(Object.entries(minimal).filter(([name]) => name !== key))
      expect(codes(type, { ...others, rate_limit: 5 })).toEqual([`config.${key} required`])
      expect(codes(type, { ...others, rate_limit: 5, [key]: null })).toEqual([`config.${key} required`])
    }
  })

  test.for(bad)('refuses the value: %s %j', ([key, value, code]) => {
    expect(codes(type, { ...minimal, [key]: value })).toEqual([`config.${key} ${code}`])
  })

  test('refuses a rate limit that is out of range, and unknown settings', () => {
    const values = { ...minimal, rate_limit: 86_401, nonsense: 1, constructor: 'x' }
    expect(codes(type, values)).toEqual([
      'config.rate_limit out_of_range',
      'config.nonsense unknown_key',
      'config.constructor unknown_key'
    ])
  })

  test('that is sent back as it was read changes nothing, sealed texts included', () => {
    const { config } = settle(type, full)
    const back = Object.fromEntries(
      redactHookConfig(getHookType(type), config, true).map(({ key, value }) => [key, value])
    )
    expect(settle(type, back, config)).toEqual({ config, problems: [] })
    expect(settle(type, full, config)).toEqual({ config, problems: [] })
  })

  test('replaces all settings except absent secrets; null clears them', () => {
    const { config } = settle(type, full)
    const plain = Object.fromEntries(Object.entries(minimal).filter(([key]) => !secret.includes(key)))
    const kept = Object.fromEntries(Object.entries(full).filter(([key]) => secret.includes(key)))
    const without = settle(type, { ...plain, rate_limit: 1 }, config)
    expect(without.problems).toEqual([])
    expect(opened(without.config)).toEqual({ ...plain, rate_limit: 1, ...kept })
    const optional = secret.filter(key => !Object.hasOwn(minimal, key))
    const nulls = Object.fromEntries(optional.map(key => [key, null]))
    expect(opened(settle(type, { ...minimal, ...nulls }, config).config)).toEqual(minimal)
  })

  test('that is empty makes the web hook a draft', () => {
    const { config, problems } = settle(type, {}, settle(type, full).config)
    expect([isDraftConfig(getHookType(type), config), problems]).toEqual([true, []])
    expect(redactHookConfig(getHookType(type), config, true)).toEqual([])
  })

  test('may have the triggers that its type supports', () => {
    expect(getHookType(type).triggers).toHaveLength(each.triggers)
    expect(getHookType(type).triggers).toContain('song_changed')
  })
})

test('the value of a secret is neither in the problems nor in the stored config', () => {
  for (const { type, secret, minimal } of cases)
    for (const key of secret) {
      const { config, problems } = settle(type, { ...minimal, [key]: 'whsec_hunter2\0https://hunter2' })
      expect(problems).not.toEqual([])
      expect(JSON.stringify([config, problems])).not.toContain('hunter2')
    }
})

test('a damaged sealed text cannot be opened, and can be replaced', () => {
  const stored = Object.entries({ webhook_url: url, basic_auth_password: 'v1.damaged' }).map(
    ([key, value]) => ({ key, value })
  )
  expect(() => unsealHookConfig(getHookType('generic'), stored, secrets)).toThrow('not a sealed secret')
  const { config } = settle('generic', { webhook_url: url, basic_auth_password: 'word' }, stored)
  expect(opened(config)).toEqual({ webhook_url: url, basic_auth_password: 'word' })
})

test('an empty text is a value if text may be empty, otherwise the default applies', () => {
  const sent = { webhook_url: url, basic_auth_username: '', timeout: '', rate_limit: '', signing_secret: '' }
  expect(settle('generic', sent)).toEqual({
    config: listed({ webhook_url: url, basic_auth_username: '' }),
    problems: []
  })
  const discord = { webhook_url: url, color: '', content: '' }
  expect(opened(settle('discord', discord).config)).toEqual({ webhook_url: url, content: '' })
})

test('numbers and flags may be sent as text', () => {
  const sent = { webhook_url: url, timeout: '20', rate_limit: '60' }
  expect(settle('generic', sent).config).toEqual(listed({ webhook_url: url, timeout: 20, rate_limit: 60 }))
})

describe('a signing secret', () => {
  const type = getHookType('generic')

  test('is generated if absent, and returned in clear once', () => {
    const { config, generated } = addGeneratedSettings(
      type,
      settle('generic', { webhook_url: url }).config,
      secrets
    )
    const value = opened(config)['signing_secret']
    expect(value).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(generated).toEqual([{ key: 'signing_secret', value }])
    expect(JSON.stringify(config)).not.toContain(value)
    expect(addGeneratedSettings(type, config, secrets)).toEqual({ config, generated: [] })
    expect(addGeneratedSettings(getHookType('discord'), [], secrets)).toEqual({ config: [], generated: [] })
  })

  test('of a draft does not count as a config, and stays when the web hook becomes a draft again', () => {
    const draft = addGeneratedSettings(type, [], secrets).config
    expect([isDraftConfig(type, draft), redactHookConfig(type, draft, true)]).toEqual([true, []])
    const own = settle('generic', { signing_secret: signingSecret }, draft)
    expect([opened(own.config), own.problems]).toEqual([{ signing_secret: signingSecret }, []])
    const active = settle('generic', { webhook_url: url }, own.config).config
    expect(opened(active)).toEqual({ webhook_url: url, signing_secret: signingSecret })
    expect(opened(settle('generic', {}, active).config)).toEqual({ signing_secret: signingSecret })
  })

  test('alone is an incomplete config for a web hook that had one', () => {
    const { config } = settle('generic', { webhook_url: url })
    expect(codes('generic', { signing_secret: signingSecret }, config)).toEqual([
      'config.webhook_url required'
    ])
  })
})

describe('a retired type', () => {
  test('accepts any config, and keeps its secrets secret', () => {
    const sent = {
      consumer_key: 'a',
      consumer_secret: 'b',
      token: 'c',
      token_secret: 'd',
      message: '',
      x: 1,
      y: true
    }
    const { config, problems } = settle('twitter', sent)
    expect([opened(config), problems]).toEqual([sent, []])
    expect(redactHookConfig(getHookType('twitter'), config, true)).toEqual(
      listed({ ...sent, consumer_secret: '', token_secret: '' })
    )
    expect(codes('google_analytics', { tracking_id: 'UA-1' })).toEqual([])
    expect(codes('twitter', { token_secret: 'x'.repeat(2_000) })).toEqual([])
    expect(codes('twitter', { token_secret: 'x'.repeat(2_001) })).toEqual(['config.token_secret too_long'])
  })
})

test('any value is either refused, or its stored form is accepted again', () => {
  const keys = Object.keys(getHookType('generic').settings)
  assert(
    property(string(), string(), (key, value) => {
      for (const name of [key, ...keys]) {
        const { config, problems } = settle('generic', { webhook_url: url, [name]: value })
        const again = problems.length === 0 ? settle('generic', opened(config)).problems : []
        expect(again).toEqual([])
      }
    })
  )
})
