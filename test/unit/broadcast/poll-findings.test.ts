import { describe, expect, test } from 'vitest'

import { findingsOf, meantStreams, noFindings } from '../../../src/broadcast/polls/poll-findings.ts'
import type { ClaimedPoll } from '../../../src/broadcast/polls/poll-rows.ts'
import type { Stream } from '../../../src/broadcast/stream.ts'

const aPoll = (parts: Partial<ClaimedPoll>): ClaimedPoll => ({
  id: 1,
  stationId: 7,
  remoteId: null,
  claimedUntilMs: 0,
  failingSinceMs: null,
  failures: 0,
  idleSinceMs: null,
  problem: '',
  station: 'Harbour FM',
  kind: 'icecast',
  url: 'http://radio.example:8000/main.mp3',
  password: '',
  name: '',
  isHeard: true,
  isReported: false,
  isLive: false,
  bitrate: 0,
  format: '',
  mounts: [
    { id: 11, path: '/main.mp3', isDefault: false },
    { id: 12, path: '/main.ogg', isDefault: true },
    { id: 13, path: '/low.mp3', isDefault: false }
  ],
  ...parts
})

const aStream = (parts: Partial<Stream>): Stream => ({
  path: '',
  id: 0,
  isConnected: true,
  total: 0,
  unique: 0,
  artist: '',
  title: '',
  bitrate: 0,
  format: '',
  ...parts
})

const mp3 = aStream({ path: '/main.mp3', total: 3, unique: 2, identities: ['a', 'b'], title: 'MP3' })
const ogg = aStream({ path: '/main.ogg', total: 5, unique: 5, title: 'Ogg' })
const foreign = aStream({ path: '/other.mp3', total: 100, unique: 100, title: 'Other' })

test('mounts are found by their paths, and one that the server does not have has no listeners', () => {
  expect(meantStreams(aPoll({}), [foreign, ogg, mp3])).toEqual([mp3, ogg])
  expect(findingsOf(aPoll({}), [foreign, ogg, mp3])).toMatchObject({
    report: {
      mounts: [
        { id: 11, total: 3, unique: 2, identities: ['a', 'b'] },
        { id: 12, total: 5, unique: 5 },
        { id: 13, total: 0, unique: 0, identities: [] }
      ],
      remotes: [],
      hls: []
    },
    total: 8
  })
})

test('what plays is what the default mount plays, else the first that is connected', () => {
  const seen = (...streams: Stream[]) => findingsOf(aPoll({}), streams).seen
  expect(seen(mp3, ogg)?.title).toBe('Ogg')
  expect(seen(mp3, { ...ogg, isConnected: false })?.title).toBe('MP3')
  expect(seen({ ...mp3, isConnected: false }, foreign)).toEqual({ isConnected: false, artist: '', title: '' })
})

test("Shoutcast's streams are numbered as the mounts are in order", () => {
  const streams = [aStream({ id: 3, total: 1, unique: 1 }), aStream({ id: 1, total: 4, unique: 4 })]
  expect(findingsOf(aPoll({ kind: 'shoutcast2' }), streams).report.mounts).toMatchObject([
    { id: 11, total: 4 },
    { id: 12, total: 0 },
    { id: 13, total: 1 }
  ])
})

describe('the stream of a remote', () => {
  const streams = [
    aStream({ id: 1, path: '/', title: 'first' }),
    aStream({ id: 2, path: '/main.mp3', title: 'second' }),
    aStream({ id: 3, path: '/été.mp3', title: 'third' })
  ]
  test.for([
    ['icecast', 'http://radio.example:8000/main.mp3', 'second'],
    ['icecast', 'http://radio.example:8000/%C3%A9t%C3%A9.mp3?a=1', 'third'],
    ['icecast', 'http://radio.example:8000/nothing.mp3', undefined],
    ['shoutcast2', 'http://radio.example:8000/main.mp3', 'second'],
    ['shoutcast2', 'http://radio.example:8000/;stream.mp3', 'first'],
    ['shoutcast2', 'http://radio.example:8000/stream/2/', 'second'],
    ['shoutcast2', 'http://radio.example:8000/listen.pls?sid=3', 'third'],
    ['shoutcast2', 'http://radio.example:8000/stream/9/', undefined]
  ] as const)('of %s at %s', ([kind, url, title]) => {
    const poll = aPoll({ remoteId: 5, kind, url, mounts: [] })
    expect(meantStreams(poll, streams)[0]?.title).toBe(title)
  })

  test('is what the station plays where it has no server of its own', () => {
    const poll = aPoll({ remoteId: 5, mounts: [] })
    expect(findingsOf(poll, [mp3])).toMatchObject({
      report: { mounts: [], remotes: [{ id: 5, total: 3, unique: 2 }] },
      seen: { isConnected: true, title: 'MP3' }
    })
    expect(findingsOf({ ...poll, isHeard: false }, [mp3]).seen).toBe(null)
  })
})

test('nobody listens to what is not asked any more', () => {
  expect(noFindings(aPoll({ remoteId: 5, kind: null }))).toMatchObject({
    report: { remotes: [{ id: 5, total: 0, unique: 0 }] },
    total: 0,
    seen: { isConnected: false },
    sound: null
  })
})
