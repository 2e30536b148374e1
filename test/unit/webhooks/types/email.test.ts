import { expect, test } from 'vitest'

import { aPlayingStation, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const config = {
  to: 'dj@example.com , office@example.com',
  subject: '{{ station.name }}: {{ now_playing.song.title }}',
  message: 'Now {{ now_playing.song.text }},\n{{ listeners.current }} listeners, @all <b>.'
}

test('one mail is sent to all recipients', () => {
  expect(sendingOf('email', config, { triggers: ['listener_gained'] })).toEqual({
    kind: 'mail',
    mail: {
      to: ['dj@example.com', 'office@example.com'],
      subject: 'Harbour FM: Paper Lanterns',
      text: 'Now Nils Okada - Paper Lanterns,\n6 listeners, @all <b>.'
    }
  })
})

test('a title cannot begin a header, and both parts are truncated', () => {
  const title = 'A\r\nBcc: x@example.com\0'
  const nowPlaying = nowPlayingOf(aPlayingStation({ title, lyrics: 'x'.repeat(8_000) }))
  const lyrics = '{{ now_playing.song.lyrics }}'
  expect(sendingOf('email', config, { nowPlaying })).toMatchObject({
    mail: { subject: 'Harbour FM: ABcc: x@example.com' }
  })
  expect(
    sendingOf('email', { ...config, subject: lyrics, message: lyrics.repeat(2) }, { nowPlaying })
  ).toMatchObject({
    mail: { subject: `${'x'.repeat(199)}…`, text: `${'x'.repeat(9_999)}…` }
  })
})
