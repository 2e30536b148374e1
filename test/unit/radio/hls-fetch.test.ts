import { expect, test } from 'vitest'

import { parseHlsFetch } from '../../../src/radio/hls/access-log-line.ts'

const entry = {
  address: '203.0.113.9',
  method: 'GET',
  target: '/hls/demo/radio.m3u8',
  status: 200,
  agent: 'VLC/3.0',
  atMs: 0
}

test.for<[target: string, shortName: string, variant: string]>([
  ['/hls/demo/radio.m3u8', 'demo', 'radio'],
  ['/hls/demo/radio.mp3.m3u8?token=a.m3u8#b', 'demo', 'radio.mp3'],
  ['/hls/demo/night/radio.m3u8', 'demo', 'night/radio'],
  ['/hls/demo/r%C3%A4dio%201.m3u8', 'demo', 'rädio 1'],
  ['https://radio.example.com:8443/hls/demo/radio.m3u8', 'demo', 'radio']
])('%s is the request of a listener', ([target, shortName, variant]) => {
  expect(parseHlsFetch({ ...entry, target })).toMatchObject({ shortName, variant })
})

test.for([
  { target: '/hls/demo/live.m3u8' },
  { target: '/hls/demo/radio_0001.ts' },
  { target: '/hls/demo/.m3u8' },
  { target: '/hls/radio.m3u8' },
  { target: '/other/hls/demo/radio.m3u8' },
  { target: `/hls/demo/${'a'.repeat(300)}.m3u8` },
  { target: '*' },
  { status: 404 },
  { status: 403 },
  { status: 302 },
  { method: 'HEAD' },
  { method: 'POST' }
])('%o is not', other => {
  expect(parseHlsFetch({ ...entry, ...other })).toBeNull()
})

test.for([200, 206, 304])('status %i is counted', status => {
  expect(parseHlsFetch({ ...entry, status })).not.toBeNull()
})

test('listeners are identified by address and agent', () => {
  const entries = [
    entry,
    { ...entry, agent: 'other' },
    { ...entry, address: '203.0.113.90' },
    { ...entry, address: '203.0.113.9\nVLC/3.0', agent: '' }
  ]
  expect(new Set(entries.map(each => parseHlsFetch(each)?.identity)).size).toBe(4)
  expect(parseHlsFetch(entry)?.identity).toBe(
    parseHlsFetch({ ...entry, target: '/hls/other/x.m3u8', status: 304 })?.identity
  )
})
