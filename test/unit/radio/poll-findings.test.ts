import { describe, expect, test } from 'vitest'

import { interpretPolledStreams, selectPolledStreams } from '../../../src/radio/polls/poll-findings.ts'
import type { LeasedPoll } from '../../../src/radio/polls/poll-rows.ts'
import type { ServerStream } from '../../../src/radio/server-stream.ts'

const aPoll = (parts: Partial<LeasedPoll>): LeasedPoll => ({
  id: 1,
  stationId: 7,
  remoteId: null,
  leasedUntilMs: 0,
  lastAnsweredAtMs: null,
  failingSinceMs: null,
  failures: 0,
  idleSinceMs: null,
  problem: '',
  station: 'Harbour FM',
  kind: 'icecast',
  url: 'http://radio.example:8000/main.mp3',
  password: '',
  name: '',
  isMainSource: true,
  hasNoBackend: false,
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

const aStream = (parts: Partial<ServerStream>): ServerStream => ({
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

test('mounts are matched by path; one that the server does not have has no listeners', () => {
  expect(selectPolledStreams(aPoll({}), [foreign, ogg, mp3])).toEqual([mp3, ogg])
  expect(interpretPolledStreams(aPoll({}), [foreign, ogg, mp3])).toMatchObject({
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

test('while a mount has no source, the listeners of its standby are counted', () => {
  const standby = aStream({ path: '/standby/main.mp3', total: 4, unique: 4 })
  const totalWith = (streams: readonly ServerStream[]) =>
    interpretPolledStreams(aPoll({}), streams).report.mounts[0]
  expect(totalWith([standby, ogg])).toMatchObject({ id: 11, total: 4 })
  expect(totalWith([standby, mp3])).toMatchObject({ id: 11, total: 3 })
})

test('the observed stream is the default mount, else the first that is connected', () => {
  const observed = (...streams: ServerStream[]) => interpretPolledStreams(aPoll({}), streams).observed
  expect(observed(mp3, ogg)?.title).toBe('Ogg')
  expect(observed(mp3, { ...ogg, isConnected: false })?.title).toBe('MP3')
  expect(observed({ ...mp3, isConnected: false }, foreign)).toEqual({
    isConnected: false,
    artist: '',
    title: ''
  })
})

test('Shoutcast streams are numbered in the order of the mounts', () => {
  const streams = [aStream({ id: 3, total: 1, unique: 1 }), aStream({ id: 1, total: 4, unique: 4 })]
  expect(interpretPolledStreams(aPoll({ kind: 'shoutcast2' }), streams).report.mounts).toMatchObject([
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
    expect(selectPolledStreams(poll, streams)[0]?.title).toBe(title)
  })

  test('is observed if the station has no server of its own', () => {
    const poll = aPoll({ remoteId: 5, mounts: [] })
    expect(interpretPolledStreams(poll, [mp3])).toMatchObject({
      report: { mounts: [], remotes: [{ id: 5, total: 3, unique: 2 }] },
      observed: { isConnected: true, title: 'MP3' }
    })
    expect(interpretPolledStreams({ ...poll, isMainSource: false }, [mp3]).observed).toBe(null)
  })
})

test('a server that is no longer polled has no listeners', () => {
  expect(interpretPolledStreams(aPoll({ remoteId: 5, kind: null }), [])).toMatchObject({
    report: { remotes: [{ id: 5, total: 0, unique: 0 }] },
    total: 0,
    observed: { isConnected: false },
    encoding: null
  })
})
