import { describe, expect, test } from 'vitest'

import type { HookEvent } from '../../../../src/webhooks/hook-event.ts'
import { aPlayingStation, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const config = {
  handle: '@radio.example',
  app_password: 'word',
  message: '🎵 {{ now_playing.song.title }} {{ station.public_player_url }}!',
  message_song_changed_live: 'Live'
}
const session = JSON.stringify({
  did: 'did:plc:abc',
  accessJwt: 'a.b.c',
  refreshJwt: 'x',
  handle: 'radio.example'
})

const sessionOf = (settings: object, parts: Partial<HookEvent> = {}) => {
  const sending = sendingOf('bluesky', { ...config, ...settings }, parts)
  if (sending.kind !== 'session') throw new Error(sending.kind)
  return sending
}
const recordsOf = (settings: object, parts: Partial<HookEvent> = {}) =>
  sessionOf(settings, parts)
    .requestsIn(session)
    .map(({ body = '' }) => JSON.parse(body).record)

test('a post with a link is made within a session', () => {
  const { open, requestsIn } = sessionOf({})
  expect(open).toEqual({
    method: 'POST',
    url: 'https://bsky.social/xrpc/com.atproto.server.createSession',
    redactedUrl: 'https://bsky.social/xrpc/com.atproto.server.createSession',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: 'radio.example', password: 'word' })
  })
  const record = {
    $type: 'app.bsky.feed.post',
    text: '🎵 Paper Lanterns https://radio.example.com/public/harbour_fm!',
    createdAt: '2026-07-08T00:00:00.000Z',
    facets: [
      {
        index: { byteStart: 20, byteEnd: 63 },
        features: [
          { $type: 'app.bsky.richtext.facet#link', uri: 'https://radio.example.com/public/harbour_fm' }
        ]
      }
    ]
  }
  expect(requestsIn(session)).toEqual([
    {
      method: 'POST',
      url: 'https://bsky.social/xrpc/com.atproto.repo.putRecord',
      redactedUrl: 'https://bsky.social/xrpc/com.atproto.repo.putRecord',
      headers: { 'content-type': 'application/json', authorization: 'Bearer a.b.c' },
      body: JSON.stringify({
        repo: 'did:plc:abc',
        collection: 'app.bsky.feed.post',
        rkey: '3mq3ss7c47hum',
        record
      })
    }
  ])
})

test('each trigger with a message makes a post; without links it has no facets', () => {
  const triggers = ['song_changed', 'song_changed_live', 'live_connect'] as const
  expect(recordsOf({ message: 'Now' }, { triggers })).toEqual([
    { $type: 'app.bsky.feed.post', text: 'Now', createdAt: '2026-07-08T00:00:00.000Z' },
    { $type: 'app.bsky.feed.post', text: 'Live', createdAt: '2026-07-08T00:00:00.000Z' }
  ])
  expect(sendingOf('bluesky', config, { triggers: ['live_connect'] })).toEqual({
    kind: 'nothing',
    reason: 'The event has no template, its text is empty, or its song has ended.'
  })
})

test('a post has at most 300 graphemes and 3000 bytes; a truncated link is not a link', () => {
  const message = '{{ now_playing.song.lyrics }}'
  const textOf = (lyrics: string) =>
    recordsOf({ message }, { nowPlaying: nowPlayingOf(aPlayingStation({ lyrics })) })[0]
  expect(textOf('é'.repeat(400)).text).toBe(`${'é'.repeat(299)}…`)
  expect(textOf('👩‍👩‍👧'.repeat(250)).text).toBe(`${'👩‍👩‍👧'.repeat(166)}…`)
  expect(textOf(`https://a.example https://${'x'.repeat(300)}.example`).facets).toHaveLength(1)
})

test('each post has its own key, the same in every attempt', () => {
  const keysOf = (parts: Partial<HookEvent>) =>
    sessionOf({}, { triggers: ['song_changed', 'song_changed_live'], ...parts })
      .requestsIn(session)
      .map(({ body = '' }) => JSON.parse(body).rkey)
  const keys = [keysOf({}), keysOf({ id: 'evt_another' }), keysOf({ happenedAt: 1_783_468_801 })].flat()
  expect(new Set(keys).size).toBe(6)
  expect(keysOf({})).toEqual(keys.slice(0, 2))
})

describe('an answer without a session is refused:', () => {
  test.for(['', 'null', '{}', '{"did":"x","accessJwt":"y"}', '{"did":"did:plc:a","accessJwt":"a\\nb"}'])(
    '%j',
    response => {
      expect(() => sessionOf({}).requestsIn(response)).toThrow('the answer does not contain a session')
    }
  )
})
