import { expect } from 'vitest'

import { startRedis } from '../../src/stores/embedded/redis.ts'
import { afterSong, aPlay, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { connectLive, isDisconnect } from '../support/live-client.ts'
import { subsOf } from '../support/live-frames.ts'
import { serveLive } from '../support/live-server.ts'
import { connectBy, openWay, transports } from '../support/live-ways.ts'
import { putState } from '../support/put-state.ts'
import { openStoreFolder } from '../support/temp-folder.ts'
import { waitFor } from '../support/wait.ts'

// The option `heartbeat` (PROTOCOL.md, sections 3 and 4).

const soon = { deadlineMs: 10_000, what: 'the server to follow' }
const channel = 'station:harbour_fm'
const rare = { subs: { [channel]: { recover: true, heartbeat: 60 } } }
const usual = subsOf(channel)

async function serveStation(redisUrl: string, state = aStation({ shown: aPlay() }), options = {}) {
  const server = await serveLive(redisUrl, { heartbeatMs: 150, pingIntervalMs: 300, ...options })
  await putState(server.redis, state)
  await waitFor(() => server.feed.get(state.stationId), soon)
  return { ...server, state }
}

test.for(transports)(
  'with a rare heartbeat, %s gets pings and changes, and no repetitions',
  async (way, { redisUrl }) => {
    const { baseUrl, redis, state } = await serveStation(redisUrl)
    const { reader: plain } = await connectBy(way, { baseUrl, message: usual })
    const { reader: client } = await connectBy(way, { baseUrl, message: rare })
    for (let count = 0; count < 4; count++) await plain.until('pub')
    await client.until('ping')
    expect(client.kinds).not.toContain('pub')
    const changed = afterSong(state)
    await putState(redis, changed)
    const { pub } = await client.until('pub')
    expect(pub).toMatchObject({ offset: changed.offset, data: { triggers: [] } })
  }
)

test('the entry in the connect frame contains the interval', async ({ redisUrl }) => {
  const { baseUrl } = await serveStation(redisUrl)
  const { connect } = await connectBy('curl: http_stream', { baseUrl, message: rare })
  expect(connect.subs?.[channel]).toMatchObject({ heartbeat: 60, recovered: true })
})

test('staleness and its end are published without waiting for a heartbeat', async () => {
  await using folder = await openStoreFolder()
  const before = await startRedis(folder.path)
  const { baseUrl } = await serveStation(before.url)
  const { reader: client } = await connectBy('curl: http_stream', { baseUrl, message: rare })
  await before.stop()
  await client.until('pub', ({ pub }) => pub.data.stale_since !== undefined)
  await using after = await startRedis(folder.path, { port: before.port })
  await client.until('pub', ({ pub }) => pub.data.stale_since === undefined, soon.deadlineMs)
  expect(after.pid).not.toBe(before.pid)
})

test('a song that should have ended is published as stale', async ({ redisUrl }) => {
  const current = { shId: 4312, dueAtMs: Date.now() - 14_500, isVisible: true }
  const { baseUrl } = await serveStation(redisUrl, aStation({ shown: aPlay(), current }))
  const { reader: client } = await connectBy('curl: http_stream', { baseUrl, message: rare })
  const { pub } = await client.until('pub')
  expect(pub.data.stale_since).toBe(Math.floor(current.dueAtMs / 1_000))
})

test('the key of a private station is checked at the usual interval', async ({ redisUrl }) => {
  let isValid = true
  const secret = aStation({ shown: aPlay(), profile: { isPublic: false } })
  const { baseUrl } = await serveStation(redisUrl, secret, { mayListen: async () => isValid })
  const { reader: client } = await connectBy('curl: http_stream', {
    baseUrl,
    message: { ...rare, token: 'any' }
  })
  await client.until('pub')
  isValid = false
  const { disconnect } = await client.until('disconnect')
  expect(disconnect.code).toBe(3010)
})

test.for([
  ['a number of seconds out of range', 5],
  ['text', '60']
] as const)('a heartbeat that is %s is refused with its limits', async ([, heartbeat], { redisUrl }) => {
  const { url, baseUrl } = await serveStation(redisUrl)
  const message = { subs: { [channel]: { heartbeat } } }
  const client = connectLive(url)
  client.socket.once('open', () => client.socket.send(JSON.stringify(message)))
  const { disconnect } = await client.until(isDisconnect)
  const reason = 'heartbeat must be an integer from 15 to 300 (seconds)'
  expect(disconnect).toEqual({ code: 3501, reason })
  expect(await client.closed).toEqual({ code: 3501, reason })
  const response = await fetch(`${baseUrl}/api/live/nowplaying/http_stream`, {
    method: 'POST',
    body: JSON.stringify(message)
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ extra_data: { errors: [{ field: 'heartbeat' }] } })
  const refused = openWay('an EventSource with cf_connect', { baseUrl, message })
  expect((await refused.ended).status).toBe(400)
})
