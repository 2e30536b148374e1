import { expect, test } from 'vitest'

import type { Snapshot } from '../../../web/client/interface.ts'
import { authorizedArtUrl, serverUrlOfFile, authorizedStreamUrl } from '../../../web/elements/addresses.ts'
import { describeStationStatus } from '../../../web/elements/status-line.ts'
import { listStreams } from '../../../web/elements/streams.ts'
import { formatDuration, formatSpokenDuration, formatTimeOfDay } from '../../../web/elements/time-text.ts'
import { aMount, aStation } from '../../support/builders.ts'
import { renderDocument } from '../../support/web-client.ts'

test('durations are formatted for display and for screen readers', () => {
  expect([0, 999, 65_000, 599_999, 3_729_000].map(formatDuration)).toEqual([
    '0:00',
    '0:00',
    '1:05',
    '9:59',
    '1:02:09'
  ])
  expect([0, 1_000, 61_000, 3_600_000].map(formatSpokenDuration)).toEqual([
    '0 seconds',
    '1 second',
    '1 minute 1 second',
    '1 hour'
  ])
})

test('a time on another day has the weekday', () => {
  const at = new Date(2026, 6, 8, 14, 3).getTime()
  const sameDay = formatTimeOfDay(at / 1_000, at + 60_000)
  expect(sameDay).toMatch(/\b0?2:03|14:03/)
  expect(formatTimeOfDay(at / 1_000, at + 86_400_000)).toMatch(/^\w+\W+/)
  expect(formatTimeOfDay(at / 1_000, at + 86_400_000)).not.toBe(sameDay)
})

const np = renderDocument()
const snapshot = (parts: Partial<Snapshot>): Snapshot => ({
  status: 'live',
  reason: null,
  via: 'websocket',
  np,
  trueAtMs: Date.now(),
  ...parts
})
const live = (name: string) =>
  renderDocument(aStation({ live: { streamerName: name, startedAtMs: 0, art: '' } }))

test.each([
  [{ status: 'connecting', np: null }, 'quiet', /^Connecting$/],
  [{}, 'plain', /^Now playing$/],
  [{ np: live('DJ Wren') }, 'live', /^DJ Wren$/],
  [{ np: live('') }, 'live', /^Live$/],
  [{ np: renderDocument(aStation({ shown: null })) }, 'quiet', /^Off the air$/],
  [{ status: 'stale' }, 'warning', /^No update since .*\d.*, retrying$/],
  [{ status: 'stale', np: live('DJ Wren') }, 'warning', /^No update since/],
  [{ status: 'offline', reason: 'unreachable' }, 'warning', /^No connection/],
  [{ status: 'offline', reason: 'unknown', np: null }, 'warning', /^No such station$/]
] as const)('the status line of %o', (parts, kind, text) => {
  const line = describeStationStatus(snapshot(parts))
  expect(line.kind).toBe(kind)
  expect(line.text).toMatch(text)
})

test('only streams that the browser can play are listed, the default one first', () => {
  const profile = {
    mounts: [
      aMount(1, { displayName: '', format: 'opus', isDefault: false }),
      aMount(2, { displayName: '', isDefault: true }),
      aMount(3, { displayName: 'Odd', format: '' })
    ],
    remotes: [{ id: 4, name: 'North', url: 'https://north.example.net/', bitrate: 0, format: 'aac' }],
    hlsEnabled: true
  }
  const { station } = renderDocument(aStation({ profile }))
  const labels = (types: readonly string[], hlsFirst = false) =>
    listStreams({ ...station, hls_is_default: hlsFirst }, type => types.includes(type)).map(
      ({ label }) => label
    )
  const hls = 'application/vnd.apple.mpegurl'
  expect(labels(['audio/mpeg'])).toEqual(['MP3, 128 kbit/s', 'Odd'])
  expect(labels(['audio/mpeg', 'audio/aac', 'audio/ogg; codecs=opus', hls])).toEqual([
    'MP3, 128 kbit/s',
    'OPUS, 128 kbit/s',
    'Odd',
    'North',
    'HLS'
  ])
  expect(labels([hls], true)).toEqual(['HLS', 'Odd'])
})

test('streams with the same label are distinguished by their path or host', () => {
  const remote = { name: 'North', bitrate: 0, format: '' }
  const profile = {
    mounts: [
      aMount(1, { displayName: '' }),
      aMount(2, { displayName: '' }),
      aMount(3, { displayName: '', format: 'opus' })
    ],
    remotes: [
      { ...remote, id: 4, url: 'https://north.example.net/a' },
      { ...remote, id: 5, url: 'https://north.example.net/b' }
    ]
  }
  const { station } = renderDocument(aStation({ profile }))
  expect(listStreams(station, () => true).map(({ label }) => label)).toEqual([
    'MP3, 128 kbit/s (/1.mp3)',
    'MP3, 128 kbit/s (/2.mp3)',
    'OPUS, 128 kbit/s',
    'North (north.example.net/a)',
    'North (north.example.net/b)'
  ])
})

test('covers are loaded from the Cuewire server only, with a key if they need one', () => {
  const art = (address: string, apiKey = '') =>
    authorizedArtUrl(address, { server: 'http://10.0.0.1:8080/', apiKey }, np)
  expect(art('https://radio.example.com/static/a.jpg')).toBe('https://radio.example.com/static/a.jpg')
  expect(art('http://10.0.0.1:8080/api/station/demo/art/a.jpg?x=1', 'k:v')).toBe(
    'http://10.0.0.1:8080/api/station/demo/art/a.jpg?x=1&api_key=k%3Av'
  )
  expect(art('https://radio.example.com/static/a.jpg', 'k:v')).toBe('https://radio.example.com/static/a.jpg')
  for (const other of [
    'https://tracker.example/a.gif',
    'javascript:alert(1)',
    'data:image/png,',
    '/a.jpg',
    ''
  ])
    expect(art(other, 'k:v')).toBe('')
})

test('covers and streams of a private station are loaded with its listen token', () => {
  const access = { server: 'http://10.0.0.1:8080/', apiKey: 'k:v', token: 'lt1_a' }
  const hidden = { station: { ...np.station, is_public: false } }
  const art = 'http://10.0.0.1:8080/api/station/demo/art/a.jpg'
  const stream = 'https://radio.example.com/listen/demo/radio.mp3'
  expect(authorizedArtUrl(art, access, hidden)).toBe(`${art}?token=lt1_a`)
  expect(authorizedStreamUrl(stream, access, hidden)).toBe(`${stream}?token=lt1_a`)
  expect(authorizedStreamUrl(stream, access, np)).toBe(stream)
  expect(authorizedStreamUrl(stream, { ...access, token: '' }, hidden)).toBe(stream)
  for (const other of ['https://north.example.net/listen/a', 'https://radio.example.com/hls/demo/live.m3u8'])
    expect(authorizedStreamUrl(other, access, hidden)).toBe(other)
})

test('the server address follows from the address of a file, with a path in front of it', () => {
  expect(serverUrlOfFile('https://radio.example.com/widget.js').href).toBe('https://radio.example.com/')
  expect(serverUrlOfFile('https://example.com/radio/assets/player-A7KLSN7G.js?x').href).toBe(
    'https://example.com/radio/'
  )
})
