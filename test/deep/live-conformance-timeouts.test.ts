import { expect } from 'vitest'

import { aPlay } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import type { StagedStation, Stage } from '../support/live-stage.ts'
import { connectBy, livePath, openWebSocket, transports, type Way } from '../support/live-ways.ts'
import { openWitnesses } from '../support/live-witnesses.ts'
import { sendRaw } from '../support/raw-http.ts'
import { openRawWebSocket, rawFrame } from '../support/raw-websocket.ts'

// Checks of the real intervals, all at once: half a minute with little CPU use.

const subsOf = ({ channel }: StagedStation) => ({ subs: { [channel]: { recover: true } } })

/** R5: an idle station is published at least every 15 seconds, with the same offset and the current time. */
async function expectHeartbeats(way: Way, { baseUrl }: Stage, station: StagedStation) {
  const { reader, connect } = await connectBy(way, { baseUrl, message: subsOf(station) })
  let lastMs = Date.now()
  let lastSecond = Math.floor(connect.time / 1_000)
  for (let beat = 0; beat < 2; beat++) {
    const { pub } = await reader.until('pub', () => true, 15_500)
    expect(pub.offset).toBe(1)
    expect(pub.data.triggers).toEqual([])
    const { current_time: second, np } = pub.data
    expect(Math.abs(second - Date.now() / 1_000)).toBeLessThan(2)
    expect(second).toBeGreaterThan(lastSecond)
    expect(np.now_playing.played_at + np.now_playing.elapsed).toBe(second)
    expect(np.now_playing.elapsed + np.now_playing.remaining).toBe(np.now_playing.duration)
    expect(Date.now() - lastMs).toBeLessThan(15_500)
    lastMs = Date.now()
    lastSecond = second
  }
}

/** A heartbeat as a delta contains only the fields that depend on the time. */
async function expectSmallHeartbeats({ baseUrl }: Stage, station: StagedStation) {
  const subs = { [station.channel]: { recover: true, delta: 'merge-patch' } }
  const client = openWebSocket({ baseUrl, message: { subs } })
  await client.until('connect')
  for (let beat = 0; beat < 2; beat++) {
    const { pub } = await client.until('delta', () => true, 15_500)
    const second = Math.floor(Date.now() / 1_000)
    expect(pub).toMatchObject({ offset: 1, delta: { np: { now_playing: {} } } })
    expect(Math.abs(Number(pub.delta['current_time']) - second)).toBeLessThan(2)
    const { elapsed, remaining } = Object(pub.delta['np']).now_playing
    expect(elapsed + remaining).toBe(3_600)
    const startedAt = Math.floor((station.state().shown?.startedAtMs ?? 0) / 1_000)
    expect(startedAt + elapsed).toBe(pub.delta['current_time'])
    expect(JSON.stringify(pub).length).toBeLessThan(200)
  }
}

/** R14: the first ping arrives 12.5 to 25 seconds after the connect frame, as announced. */
async function expectPing(way: Way, { baseUrl }: Stage) {
  const { reader, connect } = await connectBy(way, { baseUrl, message: {} })
  const connectedAtMs = Date.now()
  expect(connect.ping).toBe(25)
  await reader.until('ping', () => true, 26_000)
  expect(Date.now() - connectedAtMs).toBeGreaterThan(12_000)
  expect(reader.kinds).toEqual(['connect', 'ping'])
}

/** R11: a client that sends no message is disconnected after 10 seconds, even if it answers pings. */
async function expectStale({ baseUrl }: Stage) {
  const client = openWebSocket({ baseUrl, message: null })
  const openedAtMs = Date.now()
  const { disconnect } = await client.until('disconnect', () => true, 12_000)
  expect(disconnect).toEqual({ code: 3502, reason: 'stale' })
  expect(Date.now() - openedAtMs).toBeGreaterThan(9_000)
  expect(await client.ended).toMatchObject({ code: 3502, reason: 'stale' })
}

/** A body that never ends times out, even if bytes keep arriving. */
async function expectBodyTimeout(path: string, { baseUrl }: Stage) {
  const head = `POST ${livePath}/${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"a":"`
  const response = await sendRaw(baseUrl, head, { drips: true, deadlineMs: 15_000 })
  expect(response.status).toBe(408)
  expect(response.tookMs).toBeGreaterThan(5_000)
  expect(response.tookMs).toBeLessThan(9_000)
}

/** A client that answers no ping, like a half-open connection, is disconnected. */
async function expectPingTimeout({ baseUrl }: Stage, station: StagedStation) {
  using raw = await openRawWebSocket(baseUrl)
  raw.send(rawFrame({ payload: JSON.stringify(subsOf(station)) }))
  expect(await raw.nextText()).toMatch(/^\{"connect"/)
  const connectedAtMs = Date.now()
  expect(await raw.ended(40_000)).toBe(1006)
  expect(Date.now() - connectedAtMs).toBeGreaterThan(20_000)
  expect(Date.now() - connectedAtMs).toBeLessThan(38_000)
}

test('an idle station for half a minute', { timeout: 60_000 }, async ({ stage }) => {
  const station = await stage.put({ shown: aPlay({ durationMs: 3_600_000 }) })
  const good = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const client = openWebSocket({ baseUrl: stage.baseUrl, message: subsOf(station) })
      await client.until('connect')
      return client
    })
  )
  const witnesses = await openWitnesses(stage)
  await Promise.all([
    ...transports.map(way => expectHeartbeats(way, stage, station)),
    ...transports.map(way => expectPing(way, stage)),
    expectSmallHeartbeats(stage, station),
    expectStale(stage),
    ...['sse', 'http_stream', 'sse', 'http_stream'].map(path => expectBodyTimeout(path, stage)),
    expectPingTimeout(stage, station),
    expectPingTimeout(stage, station)
  ])
  await witnesses.finish()
  for (const client of good) {
    client.check()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  }
})
