import { describe, expect, test } from 'vitest'

import type { DialectContext } from '../../../src/api/azuracast/record-dialect.ts'
import { computeArtVersion } from '../../../src/api/azuracast/records/library/art-version.ts'
import { deriveAzuracastShortName } from '../../../src/api/azuracast/records/library/playlist.ts'
import { broadcastDialect } from '../../../src/api/azuracast/records/people/broadcast.ts'
import { roleDialect } from '../../../src/api/azuracast/records/people/role.ts'
import { bestAndWorstDialect } from '../../../src/api/azuracast/records/reports/best-and-worst.ts'
import { listConnectedListenersDialect } from '../../../src/api/azuracast/records/reports/connected-listener.ts'
import { hlsStreamDialect } from '../../../src/api/azuracast/records/stations/hls-stream.ts'
import { remoteDialect } from '../../../src/api/azuracast/records/stations/remote.ts'
import { storageLocationDialect } from '../../../src/api/azuracast/records/stations/storage-location.ts'
import { webhookDialect } from '../../../src/api/azuracast/records/stations/webhook.ts'
import { jsonReply } from '../../../src/api/core/route.ts'
import { ApiError } from '../../../src/platform/runtime/errors.ts'

/** Of station 3, on which the record of the request is stored as `stored`. */
function contextOf(stored: readonly object[] = []): DialectContext {
  return Object.assign(Object.create(null), {
    stationId: 3,
    request: { params: { id: '7' } },
    sql: async () => stored,
    link: (path: string) => `http://x/${path}`,
    stationLink: (path: string) => `http://x/3/${path}`
  })
}

describe('a record of AzuraCast has', () => {
  test('the mount of a remote apart from its server', async () => {
    const row = {
      id: 7,
      name: 'Oslo',
      url: 'https://relay.example.com:8443/main.mp3?sid=2',
      type: '',
      is_visible: true,
      bitrate: 0,
      format: '',
      listeners_unique: 1,
      listeners_total: 2
    }
    expect(await remoteDialect.render?.([row], contextOf())).toMatchObject([
      {
        display_name: 'Oslo',
        url: 'https://relay.example.com:8443',
        mount: '/main.mp3?sid=2',
        type: 'icecast',
        autodj_bitrate: null,
        autodj_format: null,
        links: { self: 'http://x/3/remote/7' }
      }
    ])
  })

  test('the settings of a web hook as a map, and a list without any', async () => {
    const row = { id: 7, name: '', config: [{ key: 'content', value: 'Hi' }], metadata: [] }
    const [rendered] = (await webhookDialect.render?.([row], contextOf())) ?? []
    expect(rendered).toMatchObject({ name: null, config: { content: 'Hi' }, metadata: [], station_id: 3 })
  })

  test('the format of an HLS stream only if it is AAC', async () => {
    const row = { id: 7, name: '/hifi', autodj_format: 'aac', autodj_bitrate: 96, listeners_total: 4 }
    const shown = await hlsStreamDialect.render?.([row, { ...row, autodj_format: 'mp3' }], contextOf())
    expect(shown).toMatchObject([
      { name: 'hifi', format: 'aac', bitrate: 96, listeners: 4 },
      { format: null }
    ])
  })

  test('numbers and nulls in place of text', async () => {
    const texts = ['s3Region', 's3Bucket', 'storageQuota', 'storageQuotaBytes', 'storageAvailableBytes']
    const row = Object.assign(Object.create(null), Object.fromEntries(texts.map(name => [name, ''])), {
      s3Version: 'latest',
      sftpPort: 0,
      storageUsedPercent: '75',
      isFull: 'true'
    })
    expect(await storageLocationDialect.render?.([row], contextOf())).toMatchObject([
      { s3Region: null, s3Version: 'latest', sftpPort: null, storageUsedPercent: 75, isFull: true }
    ])
  })

  test('times as text', async () => {
    const row = {
      id: 7,
      streamer: null,
      username: 'source',
      streamer_name: 'DJ',
      timestamp_start: 1_780_000_000
    }
    expect(await broadcastDialect.render?.([{ ...row, timestamp_end: null }], contextOf())).toMatchObject([
      { timestampStart: '2026-05-28T20:26:40.000000Z', timestampEnd: null, streamer: null, recording: null }
    ])
  })

  test('short names, and numbers that change with pictures', () => {
    expect(computeArtVersion(null)).toBe(0)
    expect(computeArtVersion('00000001aa')).toBe(1)
    expect(computeArtVersion('ffffffff')).toBeLessThan(2 ** 31)
  })
})

describe('a body of AzuraCast', () => {
  test.for([
    [
      'of a new remote',
      [],
      { url: 'https://a.example', mount: 'x.mp3' },
      { url: 'https://a.example/x.mp3', name: 'a.example' }
    ],
    [
      'with another mount',
      [{ url: 'https://a.example/old', type: '' }],
      { mount: '/new' },
      { url: 'https://a.example/new' }
    ],
    [
      'with another server',
      [{ url: 'https://a.example/old', type: '' }],
      { url: 'https://b.example' },
      { url: 'https://b.example/old' }
    ],
    [
      'of a remote that is not polled',
      [{ url: 'https://a.example', type: '' }],
      { type: 'icecast' },
      { type: '' }
    ],
    [
      'of a remote that is polled',
      [{ url: 'https://a.example', type: 'icecast' }],
      { type: 'shoutcast1' },
      { type: '' }
    ]
  ] as const)('%s is parsed', async ([, stored, body, parsed]) => {
    expect(await remoteDialect.parse?.(body, contextOf(stored))).toMatchObject(parsed)
  })

  test('names permissions of stations in two forms', async () => {
    const permissions = { global: [], station: { 4: ['view station logs'], x: { id: 5, permissions: [] } } }
    expect(await roleDialect.parse?.({ permissions }, contextOf())).toEqual({
      permissions: {
        global: [],
        station: [
          { id: 4, permissions: ['view station logs'] },
          { id: 5, permissions: [] }
        ]
      }
    })
  })

  test('names an HLS stream, and keeps what is shown as null or as it is', async () => {
    const body = { format: null, bitrate: null, name: 'hifi' }
    const created = { name: '/hls/hifi', is_visible_on_public_pages: false }
    expect(await hlsStreamDialect.parse?.(body, contextOf())).toEqual(created)
    for (const name of ['/hls/hifi', '/hifi'])
      expect(await hlsStreamDialect.parse?.(body, contextOf([{ name }]))).toEqual({})
    expect(await hlsStreamDialect.parse?.(body, contextOf([{ name: '/hls/lofi' }]))).toEqual({
      name: '/hls/hifi'
    })
  })
})

test.for([
  ['icecast', 'http://h:8000/sub/', '/live', 'http://h:8000/sub/live', 'http://h:8000', '/sub/live'],
  ['icecast', 'http://h:8000', 'live?x=1', 'http://h:8000/live?x=1', 'http://h:8000', '/live?x=1'],
  ['icecast', 'http://h:8000/a', null, 'http://h:8000/a', 'http://h:8000', '/a'],
  ['shoutcast2', 'http://h:8000', '3', 'http://h:8000/?sid=3', 'http://h:8000', '3'],
  ['shoutcast2', 'http://h:8000/sub', '1', 'http://h:8000/sub/?sid=1', 'http://h:8000/sub', '1'],
  ['shoutcast2', 'http://h:8000', '/stream/2/', 'http://h:8000/stream/2/', 'http://h:8000', '/stream/2/']
] as const)(
  'a %s remote at %s with the mount %s is at %s',
  async ([type, url, mount, address, shownUrl, shown]) => {
    const written = await remoteDialect.parse?.({ type, url, mount, display_name: 'x' }, contextOf())
    expect(written).toMatchObject({ url: address })
    const row = { id: 7, name: 'x', url: address, type, is_visible: true, bitrate: 0, format: '' }
    const counts = { listeners_unique: 0, listeners_total: 0 }
    const [read] = (await remoteDialect.render?.([{ ...row, ...counts }], contextOf())) ?? []
    expect(read).toMatchObject({ url: shownUrl, mount: shown })
    const same = await remoteDialect.parse?.(
      { type, url: shownUrl, mount: shown },
      contextOf([{ url: address, type }])
    )
    expect(same).toMatchObject({ url: address })
  }
)

test.for([
  ['Station Rock', 'station_rock'],
  ['Ärger & [Spaß] (live); ~1, 2...', 'ärger__[spaß]_(live);_~1,_2.'],
  ['90', 'playlist_90'],
  ['音楽', '音楽']
] as const)('the short name of "%s" is "%s"', ([name, short]) => {
  expect(deriveAzuracastShortName(name)).toBe(short)
})

test('songs of reports have their custom fields by name, and a text with the album', async () => {
  const song = { artist: 'Ann', album: 'Songs', title: 'Aria', text: 'Ann - Aria' }
  const plays = [{ song: { ...song, custom_fields: ['calm'] }, stat_delta: 1 }]
  const report = { bestAndWorst: { best: plays, worst: [] }, mostPlayed: plays }
  const rendered = { ...song, text: 'Ann - Songs - Aria', custom_fields: { mood: 'calm' } }
  const shown = [{ song: rendered, stat_delta: 1 }]
  expect(await bestAndWorstDialect.render?.([report], contextOf([{ name: 'mood' }]))).toEqual([
    { bestAndWorst: { best: shown, worst: [] }, mostPlayed: shown }
  ])
})

test('without a streaming server that is polled, nobody listens', async () => {
  const list = async (kind: 'conflict' | 'unavailable') => {
    const services = Object.assign(Object.create(null), {
      connectedListeners: () => Promise.reject(new ApiError(kind))
    })
    return listConnectedListenersDialect.handle?.(
      Object.create(null),
      services,
      async (_, { connectedListeners }) => jsonReply((await connectedListeners(1)).listeners)
    )
  }
  expect(await list('conflict')).toEqual({ value: [] })
  await expect(list('unavailable')).rejects.toThrow(ApiError)
})
