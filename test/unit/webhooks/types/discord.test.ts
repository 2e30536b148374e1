import { describe, expect, test } from 'vitest'

import { countCharacters } from '../../../../src/webhooks/format/truncate.ts'
import { aPlayingStation, bodyOf, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const webhook_url = 'https://discord.example/api/webhooks/1/word'
const full = {
  webhook_url,
  content: 'On air: **{{ now_playing.song.title }}**',
  title: '{{ now_playing.song.title }}',
  description: '{{ now_playing.song.artist }}\n{{ station.listen_url }}',
  url: '{{ station.public_player_url }}',
  author: '{{ now_playing.song.artist }}',
  thumbnail: '{{ now_playing.song.art }}',
  footer: '{{ station.name }}'
}
const playing = (title: string, artist = 'A') => ({
  nowPlaying: nowPlayingOf(aPlayingStation({ title, artist }))
})
const sent = (config: object, parts = {}) => bodyOf(sendingOf('discord', { webhook_url, ...config }, parts))

test('a message with all its parts', () => {
  const body = {
    content: 'On air: **Night\\_Ferry**',
    embeds: [
      {
        title: 'Night\\_Ferry',
        description: '\\*Low\\* Signals\n',
        author: { name: '*Low* Signals' },
        thumbnail: { url: 'https://radio.example.com/api/station/harbour_fm/art/5f1c0a9e2b7d.jpg' },
        footer: { text: 'Harbour FM' },
        url: 'https://radio.example.com/public/harbour_fm',
        color: 2_201_331,
        timestamp: '2026-07-08T00:00:00.000Z'
      }
    ],
    allowed_mentions: { parse: [] }
  }
  expect(sendingOf('discord', full, playing('Night_Ferry', '*Low* Signals'))).toEqual({
    kind: 'requests',
    requests: [
      {
        method: 'POST',
        url: webhook_url,
        redactedUrl: 'https://discord.example/api/webhooks/…',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      }
    ]
  })
})

describe('a part', () => {
  test('that is empty is left out, and so is an embed without parts', () => {
    const quiet = { allowed_mentions: { parse: [] } }
    expect(sent({ content: 'Hello' })).toEqual({ content: 'Hello', ...quiet })
    expect(sent({ content: 'Hello', url: 'https://a.example', title: '{{ live.streamer_name }} ' })).toEqual({
      content: 'Hello',
      ...quiet
    })
    expect(sent({ footer: 'x', color: '#000000', include_timestamp: false })).toEqual({
      embeds: [{ footer: { text: 'x' }, color: 0 }],
      ...quiet
    })
  })

  test('that is not a URL is left out, and images are fetched by https', () => {
    const embed = (config: object) => sent({ title: 'x', include_timestamp: false, ...config }).embeds[0]
    const rest = { title: 'x', color: 2_201_331 }
    for (const url of [
      '{{ now_playing.song.title }}',
      'javascript:x()',
      `https://a.example/${'x'.repeat(2_048)}`
    ])
      expect(embed({ url, thumbnail: url })).toEqual(rest)
    expect(embed({ thumbnail: 'http://a.example/{{ now_playing.song.title }}.png' })).toEqual({
      ...rest,
      thumbnail: { url: 'https://a.example/Paper%20Lanterns.png' }
    })
  })
})

test('nothing is sent if all parts are empty', () => {
  const reason = 'The message is empty.'
  const empty = [' {{ live.streamer_name }}', '\u200f\u2060']
  for (const config of [{}, ...empty.map(content => ({ content })), { url: 'https://a.example' }])
    expect(sendingOf('discord', { webhook_url, ...config })).toEqual({ kind: 'nothing', reason })
})

test('each part is within its limit, and their sum as well', () => {
  const long = '{{ now_playing.song.title }}'.repeat(40)
  const parts = { content: long, title: long, description: long, author: long, footer: long }
  const { content, embeds } = sent(parts, playing('_🎵'.repeat(127)))
  const [{ title, description, author, footer }] = embeds
  const sizes = [content, title, author.name, footer.text].map(countCharacters)
  expect(sizes.map((size, index) => size <= (index === 0 ? 2_000 : index === 3 ? 2_048 : 256))).toEqual(
    Array(4).fill(true)
  )
  expect(countCharacters(title + description + author.name + footer.text)).toBeLessThanOrEqual(6_000)
  expect(countCharacters(description)).toBeGreaterThan(3_300)
  const alone = sent({ description: long }, playing('_🎵'.repeat(127))).embeds[0].description
  expect(countCharacters(alone)).toBeLessThanOrEqual(4_096)
  expect(countCharacters(alone)).toBeGreaterThan(4_000)
})
