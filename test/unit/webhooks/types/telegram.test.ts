import { expect, test } from 'vitest'

import { aPlayingStation, bodyOf, nowPlayingOf, sendingOf } from '../../../support/hook-events.ts'

const config = { bot_token: '1:word', chat_id: '@radio', text: '*{{ now_playing.song.title }}* <b>&' }
const playing = (title: string) => ({ nowPlaying: nowPlayingOf(aPlayingStation({ title })) })

test('a message in Markdown', () => {
  expect(sendingOf('telegram', config, playing('A_B*C'))).toEqual({
    kind: 'requests',
    requests: [
      {
        method: 'POST',
        url: 'https://api.telegram.org/bot1:word/sendMessage',
        redactedUrl: 'https://api.telegram.org/bot…/sendMessage',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ chat_id: '@radio', text: '*A_B*\\**C* <b>&', parse_mode: 'Markdown' })
      }
    ]
  })
})

test('a message in HTML, to another API address', () => {
  const html = {
    ...config,
    api: 'https://bots.example/api/?key=1#x',
    parse_mode: 'HTML',
    text: '<b>{{ now_playing.song.title }}</b>'
  }
  const sending = sendingOf('telegram', html, playing('A<B> & *C*'))
  expect(sending).toMatchObject({
    requests: [
      {
        url: 'https://bots.example/api/bot1:word/sendMessage?key=1',
        redactedUrl: 'https://bots.example/api/bot…/sendMessage'
      }
    ]
  })
  expect(bodyOf(sending)).toEqual({
    chat_id: '@radio',
    text: '<b>A&lt;B&gt; &amp; *C*</b>',
    parse_mode: 'HTML'
  })
})

test('a long message keeps its markup; a template that is too long is sent as plain text', () => {
  const long = playing('x'.repeat(255))
  const text = `*${'{{ now_playing.song.title }} '.repeat(20)}*`
  const body = bodyOf(sendingOf('telegram', { ...config, text }, long))
  expect(body).toMatchObject({ parse_mode: 'Markdown', text: expect.stringMatching(/^\*(x+… ){20}\*$/) })
  expect(body.text.length).toBeLessThanOrEqual(4_096)
  expect(body.text.length).toBeGreaterThan(4_050)

  const full = '*y* '.repeat(1_024)
  expect(bodyOf(sendingOf('telegram', { ...config, text: full }, long))).toEqual({
    chat_id: '@radio',
    text: full,
    parse_mode: 'Markdown'
  })
  const plain = bodyOf(sendingOf('telegram', { ...config, text: '*y* '.repeat(2_000) }, long))
  expect(plain).toEqual({ chat_id: '@radio', text: `${full.slice(0, 4_095)}…` })
})

test('nothing is sent if it is empty', () => {
  const reason = 'The message is empty.'
  expect(sendingOf('telegram', { ...config, text: '{{ live.streamer_name }} ' })).toEqual({
    kind: 'nothing',
    reason
  })
})

test('a token cannot change the path', () => {
  for (const bot_token of ['1:a/../../b', '1:a?b', '1:a#b', '1:a%2fb'])
    expect(sendingOf('telegram', { ...config, bot_token })).toMatchObject({ kind: 'nothing' })
})
