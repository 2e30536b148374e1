import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

import { openStationRenderer } from '../../../../src/model/station/renderer.ts'
import { renderEventNowPlaying } from '../../../../src/webhooks/format/now-playing-body.ts'
import { getHookType } from '../../../../src/webhooks/types/hook-types.ts'
import { aPlay, aSong, aStation } from '../../../support/builders.ts'
import {
  anEvent,
  aPlayingStation,
  bodyOf,
  happenedAt,
  nowPlayingOf,
  sendingOf
} from '../../../support/hook-events.ts'

const url = 'https://hooks.example/radio?key=1'
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const former = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'

beforeEach(() => {
  // The verifier refuses messages older than five minutes.
  vi.useFakeTimers({ now: happenedAt * 1000, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const requestOf = (config: object, at = happenedAt + 1, formerSecrets: readonly string[] = []) => {
  const settings = { webhook_url: url, ...config }
  const sending = getHookType('generic').send(anEvent(), settings, { at, formerSecrets })
  const [request] = sending.kind === 'requests' ? sending.requests : []
  if (!request) throw new Error(sending.kind)
  return request
}

test('the body is the now-playing object, and the event is in the headers', () => {
  const { nowPlaying } = anEvent()
  expect(sendingOf('generic', { webhook_url: url }, { triggers: ['live_connect', 'song_changed'] })).toEqual({
    kind: 'requests',
    requests: [
      {
        method: 'POST',
        url,
        redactedUrl: 'https://hooks.example/radio',
        headers: {
          'content-type': 'application/json',
          'x-cuewire-event': 'live_connect,song_changed',
          'x-cuewire-station': 'harbour_fm',
          'webhook-id': 'evt_abcdefghijklmnopqrstuvwxyz',
          'webhook-timestamp': '1783468801'
        },
        body: JSON.stringify(nowPlaying),
        timeoutMs: 10_000
      }
    ]
  })
  expect([nowPlaying.cache, nowPlaying.live.broadcast_start]).toEqual(['event', null])
})

test('credentials, header lines and timeout of the config are in the request', () => {
  const config = {
    basic_auth_username: 'dj',
    basic_auth_password: 'pässword',
    timeout: 30,
    headers: 'X-One: 1\r\n\r\nx-two:  2 \nX-TWO: 3\nContent-Type: text/json'
  }
  expect(requestOf(config)).toMatchObject({
    headers: {
      authorization: 'Basic ZGo6cMOkc3N3b3Jk',
      'content-type': 'text/json',
      'x-one': '1',
      'x-two': '2, 3'
    },
    timeoutMs: 30_000
  })
  const own = requestOf({ ...config, headers: 'Authorization: Bearer word' })
  expect(own.headers['authorization']).toBe('Bearer word')
})

test('a user with a colon is refused', () => {
  const config = { webhook_url: url, basic_auth_username: 'a:b' }
  expect(sendingOf('generic', config)).toMatchObject({ kind: 'nothing' })
})

describe('the signature', () => {
  test('covers the exact body, by the current and the former secret', () => {
    const attempts = [happenedAt + 1, happenedAt + 5].map(at => {
      const { headers, body = '' } = requestOf({ signing_secret: secret }, at, [former])
      for (const each of [secret, former])
        expect(new Webhook(each).verify(body, headers)).toEqual(anEvent().nowPlaying)
      return { id: headers['webhook-id'], at: headers['webhook-timestamp'] }
    })
    const id = 'evt_abcdefghijklmnopqrstuvwxyz'
    expect(attempts).toEqual([
      { id, at: '1783468801' },
      { id, at: '1783468805' }
    ])
  })

  test('is absent without a secret', () => {
    expect(requestOf({}, happenedAt, [former]).headers).not.toHaveProperty('webhook-signature')
  })
})

describe('a body of more than 20 KiB', () => {
  const state = aPlayingStation({ lyrics: 'é'.repeat(3_000) })
  const history = Array.from({ length: 50 }, (_, index) =>
    aPlay({ shId: 4_311 - index, startedAtMs: 0, song: aSong({ album: 'x'.repeat(200) }) })
  )
  const limit = 20_480

  test('loses the end of the history, and no more than necessary', () => {
    const nowPlaying = nowPlayingOf({ ...state, history })
    const body = bodyOf(sendingOf('generic', { webhook_url: url }, { nowPlaying }))
    const kept = body.song_history.length
    expect(body).toEqual({ ...nowPlaying, song_history: nowPlaying.song_history.slice(0, kept) })
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(limit)
    const more = { ...nowPlaying, song_history: nowPlaying.song_history.slice(0, kept + 1) }
    expect(Buffer.byteLength(JSON.stringify(more))).toBeGreaterThan(limit)
  })

  test('then loses the lyrics of the next song, and of the current one', () => {
    const wordy = (count: number) => {
      const song = { lyrics: 'é'.repeat(count) }
      const base = aPlayingStation(song)
      const next = base.next && { ...base.next, song: aSong(song) }
      const nowPlaying = nowPlayingOf({ ...base, next, history })
      return bodyOf(sendingOf('generic', { webhook_url: url }, { nowPlaying }))
    }
    const lengths = (body: ReturnType<typeof wordy>) => [
      body.song_history.length,
      body.playing_next.song.lyrics.length,
      body.now_playing.song.lyrics.length
    ]
    expect(lengths(wordy(5_500))).toEqual([0, 0, 5_500])
    expect(lengths(wordy(8_000))).toEqual([0, 0, 8_000])
    expect(lengths(wordy(10_500))).toEqual([0, 0, 0])
  })

  test('is bounded whichever member is large, and keeps its keys', () => {
    const long = '👩'.repeat(255)
    const song = aSong({
      title: long,
      artist: long,
      genre: long,
      album: '👩'.repeat(200),
      lyrics: '👩'.repeat(8_000),
      customFields: Object.fromEntries(Array.from({ length: 100 }, (_, id) => [id, long]))
    })
    const { shown, next } = aPlayingStation()
    const grown = aStation({
      shown: shown && { ...shown, song, playlist: '👩'.repeat(200), streamer: long },
      next: next && { ...next, song, playlist: '👩'.repeat(200) },
      history,
      profile: {
        name: '👩'.repeat(100),
        description: '👩'.repeat(2_000),
        url: `https://radio.example/${'x'.repeat(230)}`,
        customFields: Array.from({ length: 100 }, (_, id) => ({ id, shortName: `field_${id}` })),
        mounts: Array.from({ length: 200 }, (_, id) => ({
          id,
          path: `/${id}${'x'.repeat(90)}`,
          displayName: long,
          bitrate: 128,
          format: 'mp3',
          hasAutodj: true,
          customUrl: '',
          isDefault: id === 0
        })),
        remotes: Array.from({ length: 200 }, (_, id) => ({
          id,
          name: long,
          url: 'https://a.example',
          bitrate: 0,
          format: ''
        }))
      }
    })
    const nowPlaying = nowPlayingOf(grown)
    const body = bodyOf(sendingOf('generic', { webhook_url: url }, { nowPlaying }))
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(limit)
    const keysOf = (each: object) => Object.keys(each)
    expect([body, body.station, body.now_playing, body.now_playing.song].map(keysOf)).toEqual(
      [nowPlaying, nowPlaying.station, nowPlaying.now_playing, nowPlaying.now_playing.song].map(keysOf)
    )
    expect(body.now_playing.song).toMatchObject({ title: long, artist: long })
  })
})

test('in the dialect of AzuraCast, the body has the station as AzuraCast sends it', () => {
  const renderer = openStationRenderer('azuracast', 'https://radio.example.com')
  const rendered = renderEventNowPlaying(aPlayingStation(), happenedAt * 1000, renderer)
  const { now_playing: current, ...others } = anEvent().nowPlaying
  const song = { ...current?.song, text: 'Nils Okada - Low Water - Paper Lanterns' }
  expect(rendered).toMatchObject({
    ...others,
    station: { requests_enabled: false, url: null },
    now_playing: { ...current, song }
  })
})
