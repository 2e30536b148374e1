import { expect, test } from 'vitest'

import { aPlayingStation, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const config = { bot_id: 'word', text: '{{ now_playing.song.text }}' }
const requestOf = (text: string, url = 'https://api.groupme.com/v3/bots/post') => ({
  method: 'POST',
  url,
  redactedUrl: url,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ bot_id: 'word', text })
})

test('a message', () => {
  expect(sendingOf('groupme', config)).toEqual({
    kind: 'requests',
    requests: [requestOf('Nils Okada - Paper Lanterns')]
  })
  expect(sendingOf('groupme', { ...config, api: 'https://groups.example/v3/' })).toEqual({
    kind: 'requests',
    requests: [requestOf('Nils Okada - Paper Lanterns', 'https://groups.example/v3/bots/post')]
  })
})

test('a long message is sent in parts of 1000 characters, in order; blank parts are left out', () => {
  const nowPlaying = nowPlayingOf(aPlayingStation({ lyrics: `${'🎵'.repeat(1_500)}é` }))
  const text = '{{ now_playing.song.lyrics }}'
  expect(sendingOf('groupme', { ...config, text }, { nowPlaying })).toEqual({
    kind: 'requests',
    requests: [requestOf('🎵'.repeat(1_000)), requestOf(`${'🎵'.repeat(500)}é`)]
  })
  expect(sendingOf('groupme', { ...config, text: `${' '.repeat(2_000)}x` })).toEqual({
    kind: 'requests',
    requests: [requestOf('x')]
  })
  expect(sendingOf('groupme', { ...config, text: ' {{ nothing }}' })).toEqual({
    kind: 'nothing',
    reason: 'The message is empty.'
  })
})

test('at most ten parts are sent', () => {
  const nowPlaying = nowPlayingOf(aPlayingStation({ lyrics: 'x'.repeat(8_000) }))
  const text = '{{ now_playing.song.lyrics }}'.repeat(5)
  const sending = sendingOf('groupme', { ...config, text }, { nowPlaying })
  expect(sending).toMatchObject({ requests: { length: 10, 9: requestOf(`${'x'.repeat(999)}…`) } })
})
