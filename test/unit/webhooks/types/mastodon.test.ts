import { expect, test } from 'vitest'

import { aStation } from '../../../support/builders.ts'
import { aPlayingStation, bodyOf, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const config = {
  instance_url: 'https://social.example/',
  access_token: 'word',
  message: 'Now: {{ now_playing.song.title }}',
  message_song_changed_live: 'Live: {{ now_playing.song.title }}',
  message_live_disconnect: '{{ live.streamer_name }}'
}
const requestOf = (status: string, key: string, visibility = 'public') => ({
  method: 'POST',
  url: 'https://social.example/api/v1/statuses',
  redactedUrl: 'https://social.example/api/v1/statuses',
  headers: { 'content-type': 'application/json', authorization: 'Bearer word', 'idempotency-key': key },
  body: JSON.stringify({ status, visibility })
})
const id = 'evt_abcdefghijklmnopqrstuvwxyz'

test('a post', () => {
  expect(sendingOf('mastodon', { ...config, visibility: 'unlisted' })).toEqual({
    kind: 'requests',
    requests: [requestOf('Now: Paper Lanterns', id, 'unlisted')]
  })
})

test('each trigger with a message makes a post with its own idempotency key', () => {
  expect(
    sendingOf('mastodon', config, { triggers: ['live_connect', 'song_changed', 'song_changed_live'] })
  ).toEqual({
    kind: 'requests',
    requests: [requestOf('Now: Paper Lanterns', id), requestOf('Live: Paper Lanterns', `${id}-2`)]
  })
})

const nothing = {
  kind: 'nothing',
  reason: 'The event has no template, its text is empty, or its song has ended.'
}

test('nothing is sent without a message or with an empty one', () => {
  for (const trigger of ['live_connect', 'live_disconnect'] as const)
    expect(sendingOf('mastodon', config, { triggers: [trigger] })).toEqual(nothing)
})

test('merged events make no post on a song that has ended', () => {
  const silent = nowPlayingOf(aStation({ shown: null }))
  const parts = { nowPlaying: silent, triggers: ['song_changed', 'station_offline'] as const }
  expect(sendingOf('mastodon', config, parts)).toEqual(nothing)
  const message_station_offline = '{{ station.name }}: {{ now_playing.song.title }}'
  expect(sendingOf('mastodon', { ...config, message_station_offline }, parts)).toEqual({
    kind: 'requests',
    requests: [requestOf('Harbour FM: Station Offline', id)]
  })
})

test('a post has at most 500 characters, and titles create no mentions', () => {
  const nowPlaying = nowPlayingOf(aPlayingStation({ title: '@a@b.example '.repeat(15) }))
  const message = '{{ now_playing.song.title }}'.repeat(5)
  const { status } = bodyOf(sendingOf('mastodon', { ...config, message }, { nowPlaying }))
  expect(status).toMatch(/…$/)
  expect(Array.from(status)).toHaveLength(500)
  expect(status).not.toMatch(/@(?![\u2060…])/)
})
