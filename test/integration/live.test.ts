import { expect } from 'vitest'

import type { JsonValue } from '../../src/live/deltas.ts'
import type { StationState } from '../../src/model/station/state.ts'
import type { RedisClient } from '../../src/stores/redis/connection.ts'
import { positionsKey, stationKey } from '../../src/stores/redis/keys.ts'
import { afterSong, aPlay, aSong, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import {
  connectLive,
  isConnect,
  isDisconnect,
  isPing,
  isPub,
  isTime,
  type Publication,
  subscribeLive
} from '../support/live-client.ts'
import { serveLive } from '../support/live-server.ts'
import { applyMergePatch } from '../support/merge-patch.ts'
import { positionOf, putState } from '../support/put-state.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 5_000, what: 'the server to follow' }
const harbour = { subs: { 'station:harbour_fm': { recover: true } } }

/** Starts a server with one station in this state. */
async function serveStation(
  redisUrl: string,
  state: StationState,
  options: Parameters<typeof serveLive>[1] = {}
) {
  const server = await serveLive(redisUrl, options)
  await putState(server.redis, state)
  await waitFor(() => server.feed.get(state.stationId), soon)
  return server
}

const atOffset =
  (offset: number) =>
  (frame: unknown): frame is Publication =>
    isPub(frame) && frame.pub.offset >= offset

test('with recover the state is part of the connect frame, which comes first', async ({ redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation({ offset: 7 }))
  const client = await subscribeLive(url, harbour)
  expect(client.connect.subs).toMatchObject({
    'station:harbour_fm': {
      epoch: 'e1',
      recovered: true,
      publications: [{ offset: 7, data: { triggers: [] } }]
    }
  })
  expect(client.connect.ping).toBe(25)
  expect(Math.abs(client.connect.time - Date.now())).toBeLessThan(5_000)
})

test('without recover a publication follows at once', async ({ redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation())
  const client = await subscribeLive(url, { subs: { 'station:harbour_fm': {} } })
  expect(client.connect.subs?.['station:harbour_fm']).toEqual({
    recoverable: true,
    epoch: 'e1',
    offset: 1,
    positioned: true
  })
  expect(await client.until(isPub)).toMatchObject({ channel: 'station:harbour_fm', pub: { offset: 1 } })
})

test.for<[position: object, publications: number]>([
  [{ offset: 7, epoch: 'e1' }, 0],
  [{ offset: 6, epoch: 'e1' }, 1],
  [{ offset: 8, epoch: 'e1' }, 0],
  [{ offset: 2 ** 53 - 1, epoch: 'e1' }, 1],
  [{ offset: 7, epoch: 'e0' }, 1]
])('a client reconnects with %j', async ([position, publications], { redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation({ offset: 7 }))
  const client = await subscribeLive(url, { subs: { 'station:1': { recover: true, ...position } } })
  expect(client.connect.subs?.['station:1']?.recovered).toBe(true)
  expect(client.connect.subs?.['station:1']?.publications ?? []).toHaveLength(publications)
})

test('cf_connect in the query replaces the first frame', async ({ redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation())
  const query = encodeURIComponent(JSON.stringify(harbour))
  const { connect } = await connectLive(`${url}?cf_connect=${query}&_=1`).until(isConnect)
  expect(Object.keys(connect.subs ?? {})).toEqual(['station:harbour_fm'])
})

test('a change is pushed to both channels of a station, under the requested names', async ({ redisUrl }) => {
  const first = aStation()
  const { url, redis } = await serveStation(redisUrl, first)
  const client = await subscribeLive(url, {
    subs: { 'station:1': { recover: true }, 'station:harbour_fm': { recover: true } }
  })
  await putState(redis, afterSong(first, { title: 'Night Ferry' }), ['song_changed'])
  const both = [await client.until(isPub), await client.until(isPub)]
  expect(new Set(both.map(({ channel }) => channel))).toEqual(new Set(['station:1', 'station:harbour_fm']))
  for (const { pub } of both)
    expect(pub).toMatchObject({
      offset: 2,
      data: { triggers: ['song_changed'], np: { now_playing: { song: { title: 'Night Ferry' } } } }
    })
})

test('the newest state is sent although its message was lost', async ({ redisUrl }) => {
  const first = aStation()
  const { url, redis } = await serveStation(redisUrl, first)
  const client = await subscribeLive(url, harbour)
  const second = afterSong(first)
  const position = positionOf(second)
  await redis.hset(stationKey(1), { position, schema: '2', state: JSON.stringify(second) })
  await redis.hset(positionsKey(1), { 1: position })
  expect(await client.until(atOffset(2))).toMatchObject({ pub: { offset: 2, data: { triggers: [] } } })
})

test('a heartbeat has the same offset and the current time', async ({ redisUrl }) => {
  const playing = aPlay({ startedAtMs: Date.now() - 60_000 })
  const { url } = await serveStation(redisUrl, aStation({ shown: playing }), { heartbeatMs: 600 })
  const client = await subscribeLive(url, harbour)
  const [earlier, , later] = [await client.until(isPub), await client.until(isPub), await client.until(isPub)]
  expect(earlier.pub).toMatchObject({ offset: 1, data: { triggers: [] } })
  expect(later.pub.offset).toBe(1)
  const passed = later.pub.data.current_time - earlier.pub.data.current_time
  expect(passed).toBeGreaterThan(0)
  expect(later.pub.data.np.now_playing.elapsed - earlier.pub.data.np.now_playing.elapsed).toBe(passed)
})

test('pings are sent in the announced interval', async ({ redisUrl }) => {
  const { url } = await serveLive(redisUrl, { pingIntervalMs: 1_000 })
  const client = await subscribeLive(url, {})
  expect(client.connect).not.toHaveProperty('subs')
  expect(client.connect.ping).toBe(1)
  await client.until(isPing)
  await client.until(isPing)
})

test('global:time is served beside stations, other channels are ignored', async ({ redisUrl }) => {
  const { url } = await serveLive(redisUrl, { timeIntervalMs: 100 })
  const client = await subscribeLive(url, {
    subs: { 'global:time': {}, 'foo:bar': {}, global: {}, __proto__: {}, 'station:nobody': { recover: true } }
  })
  expect(client.connect.subs).toEqual({ 'global:time': {}, 'station:nobody': {} })
  const first = await client.until(isTime)
  expect(Math.abs(first.pub.data.time - Date.now() / 1000)).toBeLessThan(5)
  await client.until(isTime)
})

test('a new station is pushed to clients that have already subscribed to it', async ({ redisUrl }) => {
  const { url, redis } = await serveLive(redisUrl)
  const client = await subscribeLive(url, harbour)
  await putState(redis, aStation(), ['station_online'])
  expect(await client.until(isPub)).toMatchObject({
    channel: 'station:harbour_fm',
    pub: { data: { triggers: ['station_online'] } }
  })
})

test('a second subs frame replaces the first, and other frames change nothing', async ({ redisUrl }) => {
  const first = aStation()
  const other = aStation({ stationId: 2, profile: { shortName: 'other' } })
  const { url, redis, feed } = await serveStation(redisUrl, first)
  await putState(redis, other)
  await waitFor(() => feed.get(2), soon)
  const client = await subscribeLive(url, harbour)
  for (const junk of ['{}', 'junk', '[]', '{"subs":7}', '']) client.socket.send(junk)
  client.socket.send(JSON.stringify({ subs: { 'station:other': { recover: true } } }))
  expect(await client.until(isPub)).toMatchObject({ channel: 'station:other', pub: { offset: 1 } })
  await putState(redis, afterSong(first))
  await putState(redis, afterSong(other))
  expect(await client.until(isPub)).toMatchObject({ channel: 'station:other', pub: { offset: 2 } })
  expect(client.frames.filter(isConnect)).toEqual([])
})

test('a private station is treated as unknown without its key', async ({ redisUrl }) => {
  const hidden = aStation({ profile: { isPublic: false } })
  const { url, redis } = await serveStation(redisUrl, hidden)
  const keyless = [
    await subscribeLive(url, harbour),
    await subscribeLive(url, { ...harbour, token: 'bad' }),
    await subscribeLive(`${url}?api_key=bad`, harbour)
  ]
  const keyed = [
    await subscribeLive(url, { ...harbour, token: 'good' }),
    await subscribeLive(url, harbour, { 'X-API-Key': 'good' }),
    await subscribeLive(url, harbour, { Authorization: 'Bearer good' }),
    await subscribeLive(`${url}?api_key=good`, harbour)
  ]
  for (const { connect } of keyless) expect(connect.subs).toEqual({ 'station:harbour_fm': {} })
  for (const { connect } of keyed) expect(connect.subs?.['station:harbour_fm']?.publications).toHaveLength(1)
  await putState(redis, afterSong(hidden), ['song_changed'])
  for (const client of keyed) expect(await client.until(isPub)).toMatchObject({ pub: { offset: 2 } })
  for (const { frames } of keyless) expect(frames).toEqual([])
})

test('a revoked key ends delivery, and a wrong key does not affect public stations', async ({ redisUrl }) => {
  const hidden = aStation({ profile: { isPublic: false } })
  let isRevoked = false
  const mayListen = async () => !isRevoked
  const { url, redis, feed } = await serveStation(redisUrl, hidden, { mayListen })
  const open = aStation({ stationId: 2, profile: { shortName: 'open' } })
  await putState(redis, open)
  await waitFor(() => feed.get(2), soon)
  const client = await subscribeLive(url, {
    subs: { 'station:harbour_fm': { recover: true }, 'station:open': { recover: true } },
    token: 'good'
  })
  expect(client.connect.subs?.['station:harbour_fm']?.publications).toHaveLength(1)
  isRevoked = true
  await putState(redis, afterSong(hidden))
  expect(await client.until(isDisconnect)).toMatchObject({ disconnect: { code: 3010 } })
  const message = {
    subs: { 'station:harbour_fm': { recover: true }, 'station:open': { recover: true } },
    token: 'good'
  }
  const again = await subscribeLive(url, message)
  expect(again.connect.subs).toMatchObject({ 'station:harbour_fm': {}, 'station:open': { recovered: true } })
  await putState(redis, afterSong(open))
  expect(await again.until(isPub)).toMatchObject({ channel: 'station:open' })
  isRevoked = false
  const third = afterSong(afterSong(hidden))
  await putState(redis, third)
  expect(await again.until(isPub)).toMatchObject({ channel: 'station:harbour_fm', pub: { offset: 3 } })
})

test('a message that arrives during the check of a key is processed after it', async ({ redisUrl }) => {
  let response: ((isAllowed: boolean) => void) | null = null
  const mayListen = async () => new Promise<boolean>(resolve => (response = resolve))
  const { url } = await serveStation(redisUrl, aStation({ profile: { isPublic: false } }), { mayListen })
  const client = connectLive(url)
  client.socket.once('open', () => {
    client.socket.send(JSON.stringify({ ...harbour, token: 'good' }))
    client.socket.send(JSON.stringify({ subs: { 'global:time': {} } }))
  })
  const allow = await waitFor(() => response, soon)
  allow(true)
  const { connect } = await client.until(isConnect)
  expect(connect.subs?.['station:harbour_fm']?.publications).toHaveLength(1)
  await client.until(isTime)
})

test.for<[text: string, code: number, reason: string, frames: number]>([
  ['hello', 3501, 'bad request', 0],
  ['[]', 3501, 'bad request', 0],
  [JSON.stringify({ subs: { ['x'.repeat(256)]: {} } }), 3501, 'bad request', 0],
  [
    JSON.stringify({ subs: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`${i}`, {}])) }),
    3505,
    'channel limit',
    1
  ],
  [JSON.stringify({ data: 'x'.repeat(64 * 1024) }), 1009, 'message too big', 0]
])('first message %#: the connection is closed', async ([text, code, reason, frames], { redisUrl }) => {
  const { url, hub } = await serveLive(redisUrl)
  const client = connectLive(url)
  client.socket.once('open', () => client.socket.send(text))
  expect(await client.closed).toEqual({ code, reason })
  expect(client.frames).toHaveLength(frames)
  await waitFor(() => hub.size() === 0, soon)
})

test('an invalid cf_connect is refused with 400', async ({ redisUrl }) => {
  const { url } = await serveLive(redisUrl)
  const client = connectLive(`${url}?cf_connect=junk`)
  const status = await new Promise(resolve => {
    client.socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
  })
  expect(status).toBe(400)
})

test('a client that sends no message is disconnected', async ({ redisUrl }) => {
  const { url, hub } = await serveLive(redisUrl, { staleMs: 100 })
  const client = connectLive(url)
  expect(await client.closed).toEqual({ code: 3502, reason: 'stale' })
  expect(client.frames.some(isDisconnect)).toBe(true)
  expect(hub.size()).toBe(0)
})

test('a rebuilt state disconnects its subscribers, so that they reconnect', async ({ redisUrl }) => {
  const { url, redis, feed } = await serveStation(redisUrl, aStation({ offset: 40 }))
  const client = await subscribeLive(url, harbour)
  await redis.flushall()
  expect((await subscribeLive(url, harbour)).connect.subs?.['station:harbour_fm']?.epoch).toBe('e1')
  await putState(redis, aStation({ epoch: 'e2' }))
  expect(await client.until(isDisconnect)).toEqual({
    disconnect: { code: 3010, reason: 'insufficient state' }
  })
  expect((await client.closed).code).toBe(3010)
  await waitFor(() => feed.get(1)?.state.epoch === 'e2', soon)
  const again = await subscribeLive(url, {
    subs: { 'station:harbour_fm': { recover: true, offset: 40, epoch: 'e1' } }
  })
  expect(again.connect.subs?.['station:harbour_fm']).toMatchObject({
    epoch: 'e2',
    publications: [{ offset: 1 }]
  })
})

/** Commits large changes one by one, each seen by `witness`, until another client must have fallen behind. */
async function flood(
  redis: RedisClient,
  first: StationState,
  witness: { until: (fits: (frame: unknown) => frame is Publication) => Promise<Publication> },
  count: number
): Promise<StationState> {
  let state = first
  for (let index = 0; index < count; index++) {
    const next = afterSong(state, aSong({ lyrics: 'la '.repeat(100_000) }))
    await putState(redis, next, index === 0 ? ['live_connect'] : ['song_changed'])
    await witness.until(atOffset(next.offset))
    state = next
  }
  return state
}

test('a client that stops reading gets the newest state when it reads again, and delays no other client', async ({
  redisUrl
}) => {
  const first = aStation()
  const { url, redis } = await serveStation(redisUrl, first)
  const witness = await subscribeLive(url, harbour)
  const stalled = await subscribeLive(url, harbour)
  stalled.socket.pause()
  const last = await flood(redis, first, witness, 60)
  stalled.socket.resume()
  let received = 0
  let newest: Publication
  do {
    newest = await stalled.until(isPub)
    received++
  } while (newest.pub.offset < last.offset)
  expect(received).toBeLessThan(55)
  expect(newest.pub.data.triggers).toContain('song_changed')
})

test('a client that stays behind is disconnected', async ({ redisUrl }) => {
  const first = aStation()
  const { url, redis, hub } = await serveStation(redisUrl, first, { slowMs: 100 })
  const witness = await subscribeLive(url, harbour)
  const stalled = await subscribeLive(url, harbour)
  stalled.socket.pause()
  await flood(redis, first, witness, 60)
  await waitFor(() => hub.size() === 1, soon)
  stalled.socket.resume()
  expect((await stalled.closed).code).toBe(3008)
})

test('draining notifies all clients and closes new connections', async ({ redisUrl }) => {
  const { url, hub } = await serveStation(redisUrl, aStation())
  const clients = await Promise.all(Array.from({ length: 300 }, async () => subscribeLive(url, harbour)))
  const startedAtMs = Date.now()
  await hub.drain()
  for (const client of clients) {
    expect(await client.closed).toEqual({ code: 1001, reason: 'shutdown' })
    expect(client.frames.at(-1)).toEqual({ disconnect: { code: 3001, reason: 'shutdown' } })
  }
  expect(Date.now() - startedAtMs).toBeLessThan(2_000)
  const late = connectLive(url)
  expect((await late.closed).code).toBe(1001)
  expect(hub.size()).toBe(0)
})

test('deltas result in the same documents as full publications', async ({ redisUrl }) => {
  let state = aStation()
  const { url, redis } = await serveStation(redisUrl, state)
  const whole = await subscribeLive(url, harbour)
  const client = await subscribeLive(url, { subs: { 'station:1': { recover: true, delta: 'merge-patch' } } })
  const entry = client.connect.subs?.['station:1']
  expect(entry?.delta).toBe('merge-patch')
  let data: JsonValue = JSON.parse(JSON.stringify(entry?.publications?.[0]?.data))
  let patches = 0
  const live = { streamerName: 'Wren', startedAtMs: 1_783_468_815_000, art: '' }
  for (const change of [
    { listeners: { ...state.listeners, total: 7, unique: 6 } },
    { history: [aPlay({ shId: 9 })] },
    { live },
    { live: null },
    { listeners: { ...state.listeners, total: 8, unique: 6 } }
  ]) {
    const next = { ...state, ...change, offset: state.offset + 1 }
    await putState(redis, next, ['listener_gained'])
    const { pub } = await client.until(atOffset(next.offset))
    expect('delta' in pub).toBe(!('data' in pub))
    if (pub.delta !== undefined) patches++
    data = pub.delta === undefined ? JSON.parse(JSON.stringify(pub.data)) : applyMergePatch(data, pub.delta)
    const other = await whole.until(atOffset(next.offset))
    expect(withoutTime(data)).toEqual(withoutTime(other.pub.data))
    state = next
  }
  // Going live is sent as a patch; going off the air sets a field to null, which a merge patch cannot
  // express.
  expect(patches).toBe(4)
})

/** Without values that depend on the time, because the two frames may have been sent in different seconds. */
function withoutTime(data: unknown): unknown {
  return JSON.parse(JSON.stringify(data).replaceAll(/"(elapsed|remaining|current_time)":\d+/g, '"$1":0'))
}

test('after a gap a full document is sent instead of a delta', async ({ redisUrl }) => {
  const first = aStation({ offset: 7 })
  const { url, redis } = await serveStation(redisUrl, first)
  const back = { recover: true, offset: 7, epoch: 'e1', delta: 'merge-patch' }
  const client = await subscribeLive(url, { subs: { 'station:1': back } })
  expect(client.connect.subs?.['station:1']?.publications).toBeUndefined()
  const second = afterSong(first)
  await putState(redis, second)
  const whole = await client.until(atOffset(8))
  expect(whole.pub.data.np.now_playing.sh_id).toBe(second.shown?.shId)
  await putState(redis, afterSong(second))
  expect((await client.until(atOffset(9))).pub.delta).toBeDefined()
})

test('a stale state is marked and sent in full, until it is current again', async ({ redisUrl }) => {
  const dueAtMs = Date.now() - 60_000
  const first = aStation({ current: { shId: 1, dueAtMs, isVisible: true } })
  const { url, redis } = await serveStation(redisUrl, first, { heartbeatMs: 200, tickMs: 50 })
  const delta = { subs: { 'station:1': { recover: true, delta: 'merge-patch' } } }
  const clients = [await subscribeLive(url, harbour), await subscribeLive(url, delta)]
  const stale = { data: { stale_since: Math.floor(dueAtMs / 1_000) } }
  for (const client of clients) {
    const [entry] = Object.values(client.connect.subs ?? {})
    expect(entry?.publications).toMatchObject([stale])
    expect(await client.until(isPub)).toMatchObject({ pub: stale })
  }
  const upToDate = { recover: true, offset: 1, epoch: 'e1' }
  const back = await subscribeLive(url, { subs: { 'station:1': upToDate } })
  expect(back.connect.subs?.['station:1']?.publications).toMatchObject([stale])
  const second = afterSong(first)
  await putState(redis, second)
  for (const client of clients) {
    const { pub } = await client.until(atOffset(2))
    expect(pub.data).toHaveProperty('np')
    expect(pub.data).not.toHaveProperty('stale_since')
  }
  expect((await clients[1]?.until(isPub))?.pub).toHaveProperty('delta')
})

test('with a delay a change is sent later, and the previous state until then', async ({ redisUrl }) => {
  const first = aStation()
  const { url, redis } = await serveStation(redisUrl, first, { heartbeatMs: 300 })
  const early = await subscribeLive(`${url}?delay=1`, harbour)
  const startedAtMs = Date.now()
  await putState(redis, afterSong(first), ['song_changed'])
  const prompt = await subscribeLive(url, harbour)
  await waitFor(() => prompt.frames.some(atOffset(2)) || prompt.connect.subs?.['station:harbour_fm'], soon)
  const late = await subscribeLive(`${url}?delay=1`, harbour)
  expect(late.connect.subs?.['station:harbour_fm']?.publications?.[0]?.offset).toBe(1)
  // A client that received a newer state from another server does not go back.
  const ahead = { subs: { 'station:harbour_fm': { recover: true, offset: 2, epoch: 'e1' } } }
  const aheadClient = await subscribeLive(`${url}?delay=1`, ahead)
  expect(aheadClient.connect.subs?.['station:harbour_fm']).toMatchObject({ offset: 2 })
  for (const client of [early, late, aheadClient]) {
    const { pub } = await client.until(atOffset(2))
    expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(1_000)
    expect(pub.data.np.now_playing.elapsed).toBeGreaterThanOrEqual(1)
  }
  expect(aheadClient.frames.filter(isPub).every(({ pub }) => pub.offset >= 2)).toBe(true)
})

test('a client with the position of a server that is ahead does not go back', async ({ redisUrl }) => {
  const first = aStation()
  const { url, redis, feed } = await serveStation(redisUrl, first)
  // A commit without a message, as if the message arrived later.
  const second = afterSong(first)
  await redis.hset(stationKey(1), 'position', positionOf(second), 'state', JSON.stringify(second))
  const client = await subscribeLive(url, {
    subs: { 'station:harbour_fm': { recover: true, offset: 2, epoch: 'e1' } }
  })
  expect(client.connect.subs?.['station:harbour_fm']).toMatchObject({ recovered: true, offset: 2 })
  expect(feed.get(1)?.state.offset).toBe(2)
})

test('a client that sends too many messages is disconnected', async ({ redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation())
  const client = await subscribeLive(url, harbour)
  for (let count = 0; count < 50; count++) client.socket.send('{}')
  expect(await client.closed).toEqual({ code: 3509, reason: 'too many messages' })
})

test('no message is lost during the check of a key, and the limits apply', async ({ redisUrl }) => {
  let response: ((isAllowed: boolean) => void) | null = null
  const mayListen = async () => new Promise<boolean>(resolve => (response = resolve))
  const hidden = aStation({ profile: { isPublic: false } })
  const { url, redis, feed } = await serveStation(redisUrl, hidden, { mayListen })
  await putState(redis, aStation({ stationId: 2, profile: { shortName: 'open' } }))
  await waitFor(() => feed.get(2), soon)
  const client = connectLive(url)
  client.socket.once('open', () => {
    client.socket.send(JSON.stringify({ ...harbour, token: 'good' }))
    client.socket.send('{"subs":{"station:open":{}}}')
    client.socket.send('{}')
    client.socket.send(
      JSON.stringify({
        subs: Object.fromEntries(
          Array(129)
            .fill(0)
            .map((_, i) => [`a${i}`, {}])
        )
      })
    )
  })
  const allow = await waitFor(() => response, soon)
  allow(true)
  await client.until(isConnect)
  expect(await client.until(isPub)).toMatchObject({ channel: 'station:open' })
  expect(await client.closed).toEqual({ code: 3505, reason: 'channel limit' })
})

test('a client that subscribes to too many channels in a second is disconnected', async ({ redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation())
  const client = await subscribeLive(url, harbour)
  const many = JSON.stringify({
    subs: Object.fromEntries(Array.from({ length: 128 }, (_, index) => [`station:${index}`, {}]))
  })
  for (let count = 0; count < 3; count++) client.socket.send(many)
  expect(await client.closed).toEqual({ code: 3509, reason: 'too many messages' })
})

test.for(['1e999', '3.5', '-1', '9007199254740992'])(
  'an offset of %s is ignored',
  async (offset, { redisUrl }) => {
    const { url } = await serveStation(redisUrl, aStation({ offset: 7 }))
    const message = JSON.stringify({ subs: { 'station:1': { recover: true, epoch: 'e1', offset: 0 } } })
    for (const query of ['', '?delay=1']) {
      const client = connectLive(url + query)
      client.socket.once('open', () =>
        client.socket.send(message.replace('"offset":0', `"offset":${offset}`))
      )
      const { connect } = await client.until(isConnect)
      expect(connect.subs?.['station:1']).toMatchObject({ publications: [{ offset: 7 }] })
    }
  }
)

test('with a delay an impossible offset returns the state', async ({ redisUrl }) => {
  const { url } = await serveStation(redisUrl, aStation({ offset: 7 }))
  const options = { recover: true, epoch: 'e1', offset: 2 ** 53 - 1 }
  const client = await subscribeLive(`${url}?delay=1`, { subs: { 'station:1': options } })
  expect(client.connect.subs?.['station:1']).toMatchObject({ publications: [{ offset: 7 }] })
})
