import type { ServerResponse } from 'node:http'

import { describe, expect } from 'vitest'

import { addMissingPollRows, resetPollsOfStation } from '../../src/radio/polls/poll-rows.ts'
import { readConnectedIdentities } from '../../src/stores/redis/listener-store.ts'
import { test as base } from '../support/fixtures.ts'
import { openPolling } from '../support/polling.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { seedStation, seedStations } from '../support/stations.ts'
import { startFakeIcecast, startFakeShoutcast } from '../support/streaming-server.ts'
import { waitFor } from '../support/wait.ts'
import { startWebServer } from '../support/web-server.ts'

const second = 1_000
const startMs = Date.now()
const password = 'open sesame'

const vlc = ['203.0.113.9', 'VLC/3.0'] as const
const phone = ['203.0.113.9', 'Phone & <more>'] as const
const other = ['2001:db8::1', 'VLC/3.0'] as const

/** A poller, an Icecast and a Shoutcast server, and a station with the mounts `/radio.mp3` and `/low.mp3`. */
const test = base.extend('radio', async ({ sql, redisUrl }, { onCleanup }) => {
  const [icecast, shoutcast, polling] = await Promise.all([
    startFakeIcecast(),
    startFakeShoutcast(),
    openPolling(sql, redisUrl)
  ])
  onCleanup(async () => {
    await polling[Symbol.asyncDispose]()
    await Promise.all([icecast[Symbol.asyncDispose](), shoutcast[Symbol.asyncDispose]()])
  })
  const stationId = await seedStation(sql, { tracks: 0 })
  await sql`insert into hls_streams (station_id, name) values (${stationId}, '/low.mp3')`
  return {
    ...polling,
    icecast,
    shoutcast,
    stationId,
    /** Runs the polls that are due this many milliseconds after the start. */
    pollAt: (atMs: number) => polling.poll(startMs + atMs),
    counted: () => polling.counts(stationId),
    /** How many listeners are identified. */
    identified: async () => {
      const connected = await readConnectedIdentities(polling.services.redis, stationId)
      return [...connected.values()].reduce((sum, { size }) => sum + size, 0)
    },
    stateOf: async (id: number) => {
      const [state] = await polling.state(id)
      if (!state) throw new Error('there is no such poll')
      return state
    },
    playing: async () => {
      const [play] = await sql<{ artist: string; title: string }[]>`
        select artist, title from song_history where station_id = ${stationId} and ended_at_ms is null`
      return play ?? null
    }
  }
})

describe('with 0, 1 and 2 sources', () => {
  test.for([
    ['Icecast as admin', 'icecast', password, '2/1', '4/3'],
    ['Icecast anonymously', 'icecast', '', '2/2', '4/4'],
    ['Shoutcast as admin', 'shoutcast2', password, '2/1', '4/3'],
    ['Shoutcast anonymously', 'shoutcast2', '', '2/1', '4/3']
  ] as const)('%s: listeners are counted', async ([, frontend, secret, main, all], { radio }) => {
    const server = frontend === 'icecast' ? radio.icecast : radio.shoutcast
    await radio.setServer(radio.stationId, server.url, { frontend, password: secret })
    expect(await radio.pollAt(0)).toBe(1)
    expect(await radio.counted()).toEqual({ all: '0/0', '/radio.mp3': '0/0', '/low.mp3': '0/0' })
    server.send({ path: '/radio.mp3', listeners: [vlc, vlc] })
    expect(await radio.pollAt(20 * second)).toBe(1)
    expect(await radio.counted()).toEqual({ all: main, '/radio.mp3': main, '/low.mp3': '0/0' })
    server.send({ path: '/radio.mp3', listeners: [vlc, vlc] }, { path: '/low.mp3', listeners: [phone, vlc] })
    expect(await radio.pollAt(40 * second)).toBe(1)
    expect(await radio.counted()).toEqual({ all, '/radio.mp3': main, '/low.mp3': '2/2' })
    expect(await radio.identified()).toBe(secret === '' ? 0 : 3)
    expect(await radio.stateOf(radio.stationId)).toMatchObject({
      problem: '',
      failures: 0,
      failingSinceMs: null
    })
  })
})

test('a server that fails raises an alert after seconds, keeps its counts for a minute, and tells web hooks', async ({
  radio,
  sql
}) => {
  const notified = () => sql`select title, type from notifications`
  await sql`insert into song_history (station_id, song_id, started_at_ms) values (${radio.stationId}, md5('x'), ${startMs})`
  const [hook] = await sql<{ id: number }[]>`
    insert into webhooks (station_id, name, type, triggers, config) values (${radio.stationId}, 'status', 'generic',
      '["station_offline", "station_online"]', '[{"name": "webhook_url", "value": "https://hooks.example.com/"}]') returning id`
  const triggers = async () =>
    (
      await sql<{ triggers: string[] }[]>`
      select triggers from webhook_deliveries where webhook_id = ${hook?.id ?? 0} order by id`
    ).map(row => row.triggers)
  await radio.setServer(radio.stationId, radio.icecast.url, { password })
  radio.icecast.send({ path: '/radio.mp3', listeners: [vlc, other] })
  await radio.pollAt(0)
  radio.icecast.respondWith((_, response) => response.writeHead(503).end())
  await radio.pollAt(6 * second)
  await radio.pollAt(12 * second)
  expect(await notified()).toEqual([])
  const { failingSinceMs, problem } = await radio.stateOf(radio.stationId)
  expect({ failingSinceMs, problem }).toEqual({
    failingSinceMs: startMs + 6 * second,
    problem: 'The server responded with status 503.'
  })
  await radio.pollAt(18 * second)
  const title = expect.stringMatching(/^A streaming server does not respond: Station/)
  expect(await notified()).toEqual([{ title, type: 'danger' }])
  expect(await triggers()).toEqual([['station_offline']])
  await radio.pollAt(40 * second)
  expect(await radio.counted()).toMatchObject({ all: '2/2', '/radio.mp3': '2/2' })
  await radio.pollAt(70 * second)
  expect(await radio.counted()).toMatchObject({ all: '0/0', '/radio.mp3': '0/0' })
  radio.icecast.send({ path: '/radio.mp3', listeners: [vlc] })
  // The backoff grows to at most 22 seconds, so the recovery is noticed within 30.
  await radio.pollAt(95 * second)
  expect(await radio.counted()).toMatchObject({ all: '1/1' })
  expect(await radio.stateOf(radio.stationId)).toMatchObject({
    failures: 0,
    failingSinceMs: null,
    problem: ''
  })
  expect(await notified()).toEqual([{ title, type: 'success' }])
  expect(await triggers()).toEqual([['station_offline'], ['station_online']])
  expect(await sql`select from open_facts where fact like 'poll:%'`).toHaveLength(0)
})

test('with a wrong password listeners are counted, but not identified', async ({ radio }) => {
  await radio.setServer(radio.stationId, radio.icecast.url, { password: 'wrong' })
  radio.icecast.send({ path: '/radio.mp3', listeners: [vlc, vlc] })
  await radio.pollAt(0)
  expect(await radio.counted()).toMatchObject({ all: '2/2' })
  const { problem, failures, answeredAtMs } = await radio.stateOf(radio.stationId)
  expect(problem).toBe('The server rejected the admin password: listeners are counted, but not identified.')
  expect({ failures, hasResponded: answeredAtMs !== null }).toEqual({ failures: 0, hasResponded: true })
})

test('servers that hang or send slow, invalid or huge responses change nothing and delay no others', async ({
  radio,
  sql
}) => {
  const silent = await startSilentServer()
  const [huge, crawling, nonsense, gone] = await Promise.all(
    Array.from({ length: 4 }, () => startWebServer())
  )
  if (!huge || !crawling || !nonsense || !gone) throw new Error('there are no servers')
  try {
    huge.respondWith(Buffer.alloc(3_000_000, 'x'))
    nonsense.respondWith('<icestats><source mount="/radio.mp3"><listeners>2</lis')
    crawling.respondWith((_, response) => {
      const timer = setInterval(() => response.write('x'), 100)
      response.on('close', () => clearInterval(timer))
    })
    await gone[Symbol.asyncDispose]()
    // As many as the concurrency limit, all due before the others.
    const hanging = await seedStations(sql, { stations: 64, tracks: 0 })
    for (const { id } of hanging) await radio.setServer(id, `http://127.0.0.1:${silent.port}/${id}`)
    await addMissingPollRows(sql)
    await sql`update polls set due_at_ms = -1`
    const bad = [
      ['timeout', `http://127.0.0.1:${silent.port}/`, 'The server did not answer in time.'],
      ['timeout', crawling.url, 'The server did not answer in time.'],
      ['large', huge.url, 'The answer is too large.'],
      ['nonsense', nonsense.url, 'The response is not JSON.'],
      ['gone', gone.url, 'The connection failed (ECONNREFUSED).']
    ] as const
    const stations = await seedStations(sql, { stations: bad.length, tracks: 0 })
    for (const [index, { id }] of stations.entries()) {
      await radio.setServer(id, bad[index]?.[1] ?? '')
      await sql`update hls_streams set mount_listeners_total = 7 where station_id = ${id}`
    }
    await radio.setServer(radio.stationId, radio.icecast.url)
    radio.icecast.send({ path: '/radio.mp3', listeners: [vlc] })
    await addMissingPollRows(sql)
    const fromMs = performance.now()
    const pollAndCount = async () => {
      await radio.poller.startDue(startMs)
      return (await radio.counted()).all === '1/1'
    }
    await waitFor(pollAndCount, { deadlineMs: 3_000, what: 'the good server while the others hang' })
    await radio.poller.drain()
    expect(performance.now() - fromMs).toBeLessThan(8_000)
    await waitFor(() => silent.open() === 0, { deadlineMs: 2_000, what: 'the end of what was hanging' })
    for (const [index, { id }] of stations.entries()) {
      expect(await radio.stateOf(id)).toMatchObject({ failures: 1, problem: bad[index]?.[2] })
      expect(await radio.counts(id)).toMatchObject({ '/radio.mp3': '7/0' })
    }
  } finally {
    await silent[Symbol.asyncDispose]()
    await Promise.all([huge, crawling, nonsense].map(server => server[Symbol.asyncDispose]()))
  }
})

test('a listener of two mounts counts twice, until one of them is left', async ({ radio }) => {
  await radio.setServer(radio.stationId, radio.icecast.url, { password })
  radio.icecast.send({ path: '/radio.mp3', listeners: [vlc] }, { path: '/low.mp3', listeners: [vlc] })
  await radio.pollAt(0)
  expect(await radio.counted()).toEqual({ all: '2/2', '/radio.mp3': '1/1', '/low.mp3': '1/1' })
  radio.icecast.send({ path: '/radio.mp3', listeners: [vlc] })
  await radio.pollAt(10 * second)
  expect(await radio.counted()).toEqual({ all: '1/1', '/radio.mp3': '1/1', '/low.mp3': '0/0' })
  expect(await radio.identified()).toBe(1)
})

test('without a backend the current song is what the server shows', async ({ radio }) => {
  const settings = { backend: 'none' }
  await radio.setServer(radio.stationId, radio.icecast.url, settings)
  radio.icecast.send(
    { path: '/low.mp3', title: 'Low - Quality' },
    { path: '/radio.mp3', title: 'Tom &amp; Ann - Rain - Live' }
  )
  await radio.pollAt(0)
  expect(await radio.playing()).toEqual({ artist: 'Tom & Ann', title: 'Rain - Live' })
  radio.icecast.send({ path: '/low.mp3', title: 'Low - Quality' })
  expect(await radio.pollAt(6 * second)).toBe(1)
  expect(await radio.playing()).toEqual({ artist: 'Low', title: 'Quality' })
  radio.icecast.send()
  await radio.pollAt(12 * second)
  expect(await radio.playing()).toBe(null)
})

test('stations on the same server share one request', async ({ radio, sql }) => {
  const stations = await seedStations(sql, { stations: 5, tracks: 0 })
  for (const { id } of stations) await radio.setServer(id, radio.icecast.url)
  radio.icecast.send({ path: '/radio.mp3', listeners: [vlc] })
  expect(await radio.pollAt(0)).toBe(5)
  expect(radio.icecast.asked).toHaveLength(1)
  for (const { id } of stations) expect(await radio.counts(id)).toMatchObject({ all: '1/1' })
})

test('concurrent processes poll each server once, and an expired lease is polled again', async ({
  radio,
  sql,
  redisUrl
}) => {
  const stations = await seedStations(sql, { stations: 30, tracks: 0 })
  for (const { id } of stations) await radio.setServer(id, `${radio.icecast.url}/${id}`)
  await addMissingPollRows(sql)
  await using others = await openPolling(sql, redisUrl)
  const pollers = [radio.poller, others.poller, radio.poller]
  const results = await Promise.all(pollers.map(poller => poller.startDue(startMs)))
  expect(results.reduce((sum, { started }) => sum + started, 0)).toBe(30)
  await Promise.all([radio.poller.drain(), others.poller.drain()])
  expect(radio.icecast.asked).toHaveLength(30)
  // The lease of a process that was killed.
  await sql`update polls set due_at_ms = ${startMs + 6 * second} where station_id = ${stations[0]?.id ?? 0}`
  expect(await radio.pollAt(4 * second)).toBe(0)
  expect(await radio.pollAt(7 * second)).toBe(1)
})

test('a response that arrives after the address changed is ignored', async ({ radio, sql }) => {
  const pending: ServerResponse[] = []
  radio.icecast.respondWith((_, response) => void pending.push(response))
  await radio.setServer(radio.stationId, radio.icecast.url, { backend: 'none' })
  await addMissingPollRows(sql)
  await radio.poller.startDue(startMs)
  await waitFor(() => pending.length > 0, { deadlineMs: 3_000, what: 'the server to be asked' })
  await radio.setServer(radio.stationId, '', { backend: 'none' })
  await sql.begin(tx => resetPollsOfStation(tx, radio.stationId))
  await radio.poller.startDue(startMs)
  await waitFor(async () => (await radio.state(radio.stationId)).length === 0, {
    deadlineMs: 5_000,
    what: 'the poll to go'
  })
  const old = '{"icestats":{"source":{"listeners":9,"title":"Old","listenurl":"http://h/radio.mp3"}}}'
  for (const response of pending) response.end(old)
  await radio.poller.drain()
  expect(await radio.counted()).toMatchObject({ all: '0/0' })
  expect(await radio.playing()).toBe(null)
})

describe('a remote', () => {
  test('is counted and observed, and its unknown encoding is stored', async ({ radio, sql, redisUrl }) => {
    const { stationId, icecast, shoutcast } = radio
    await using polling = await openPolling(sql, redisUrl, ['127.0.0.1'])
    await sql`update stations set frontend = 'remote', backend = 'none' where id = ${stationId}`
    icecast.send({ path: '/relay.mp3', title: 'Wren - Tide', bitrate: 192, listeners: [vlc, vlc] })
    shoutcast.send({ path: '/', title: 'Other', bitrate: 64, listeners: [vlc] })
    const relay = `${icecast.url}/relay.mp3`
    const cast = `${shoutcast.url}/;`
    await polling.addRemote(stationId, relay, 'icecast', { password })
    await polling.addRemote(stationId, cast, 'shoutcast2', { bitrate: 96 })
    expect(await polling.poll(startMs)).toBe(2)
    expect(await polling.counts(stationId)).toMatchObject({ all: '3/2', [relay]: '2/1', [cast]: '1/1' })
    expect(await radio.playing()).toEqual({ artist: 'Wren', title: 'Tide' })
    const encodings = await sql`select bitrate, format from remotes order by id`
    expect([...encodings]).toEqual([
      { bitrate: 192, format: 'mp3' },
      { bitrate: 96, format: 'mp3' }
    ])
    const [revisions] =
      await sql`select station_revision > 1 as "isShown" from stations where id = ${stationId}`
    expect(revisions).toEqual({ isShown: true })
    // No longer polled: it has no listeners, and the poll is deleted.
    await sql`update remotes set type = ''`
    await sql`update polls set due_at_ms = 0`
    await polling.poll(startMs + second)
    expect(await polling.counts(stationId)).toMatchObject({ all: '0/0', [relay]: '0/0', [cast]: '0/0' })
    expect(await polling.state(stationId)).toHaveLength(0)
    expect(await radio.playing()).toBe(null)
  })

  test('must not be in a private network that is not allowed', async ({ radio }) => {
    await radio.addRemote(radio.stationId, `${radio.icecast.url}/radio.mp3`, 'icecast')
    radio.icecast.send({ path: '/radio.mp3', listeners: [vlc] })
    await radio.pollAt(0)
    expect(await radio.counted()).toMatchObject({ all: '0/0' })
    expect(radio.icecast.asked).toHaveLength(0)
    expect(await radio.stateOf(radio.stationId)).toMatchObject({
      problem:
        'The address must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    })
  })
})
