import { randomBytes } from 'node:crypto'

import { describe, expect } from 'vitest'
import { WebSocket } from 'ws'

import { openListenTokens } from '../../src/api/auth/listen-tokens.ts'
import { openFollowers } from '../../src/live/followers.ts'
import { readFollowers, writeFollowers } from '../../src/stores/redis/followers.ts'
import { openSecrets } from '../../src/stores/secrets/secrets.ts'
import { followStation } from '../../web/client/client.ts'
import { aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { entryOf, subsOf } from '../support/live-frames.ts'
import { serveLive } from '../support/live-server.ts'
import { connectBy, livePath, openWay, openWebSocket, transports, type Wish } from '../support/live-ways.ts'
import type { Program } from '../support/program.ts'
import { putState } from '../support/put-state.ts'
import { waitFor } from '../support/wait.ts'

const soon = { deadlineMs: 10_000, what: 'the server to follow' }
const tokens = openListenTokens(openSecrets(Buffer.alloc(32, 1)))
const forged = openListenTokens(openSecrets(Buffer.alloc(32, 2)))
const hidden = aStation({ profile: { isPublic: false } })
const open = aStation({ stationId: 2, profile: { shortName: 'open' } })
const message = subsOf('station:harbour_fm')

function claims(
  parts: { readonly stationId?: number; readonly endsAtMs?: number; readonly generation?: number } = {}
) {
  return { stationId: hidden.stationId, endsAtMs: Date.now() + 60_000, generation: 0, subject: '', ...parts }
}

async function serveStations(redisUrl: string, options: Parameters<typeof serveLive>[1] = {}) {
  const server = await serveLive(redisUrl, { readGrant: tokens.read, ...options })
  await putState(server.redis, hidden)
  await putState(server.redis, open)
  await waitFor(() => server.feed.get(open.stationId), soon)
  return server
}

/** The private station with a higher offset, and with tokens of this generation. */
const changed = (offset: number, generation: number) => ({
  ...hidden,
  offset,
  revisions: { ...hidden.revisions, station: offset },
  profile: { ...hidden.profile, listenTokenGeneration: generation }
})

describe('push', () => {
  test('on every transport a token shows its station, and no other credential does', async ({ redisUrl }) => {
    const { baseUrl, redis } = await serveStations(redisUrl)
    const token = tokens.issue(claims())
    const shown = [
      { message: { ...message, token } },
      { message, query: `token=${token}` },
      { message, headers: { Authorization: `Bearer ${token}` } }
    ]
    const refused = [
      tokens.issue(claims({ stationId: 2 })),
      tokens.issue(claims({ endsAtMs: Date.now() - 1_000 })),
      forged.issue(claims()),
      token.slice(0, -1),
      token.replace('lt1_', 'lt2_')
    ]
    const connectAll = async (wishes: readonly Omit<Wish, 'baseUrl'>[], kind: 'recovered' | 'waiting') =>
      Promise.all(
        transports.flatMap(way =>
          wishes.map(async wish => {
            const { reader, connect } = await connectBy(way, { baseUrl, ...wish })
            entryOf(kind, connect, 'station:harbour_fm')
            return reader
          })
        )
      )
    const readers = await connectAll(shown, 'recovered')
    await connectAll(
      refused.map(bad => ({ message: { ...message, token: bad } })),
      'waiting'
    )
    await putState(redis, changed(2, 0))
    for (const reader of readers) expect((await reader.until('pub')).pub.offset).toBe(2)
  })

  test('on every transport a connection ends within a second after its token', async ({ redisUrl }) => {
    const { baseUrl } = await serveStations(redisUrl)
    const endsAtMs = Math.ceil(Date.now() / 1_000) * 1_000 + 1_000
    const token = tokens.issue(claims({ endsAtMs }))
    const { reader: ofPublic } = await connectBy('curl: http_stream', {
      baseUrl,
      message: { ...subsOf('station:open'), token }
    })
    await Promise.all(
      transports.map(async way => {
        const { reader } = await connectBy(way, { baseUrl, message: { ...message, token } })
        const { disconnect } = await reader.until('disconnect')
        expect(disconnect).toEqual({ code: 3005, reason: 'token expired' })
        expect(Date.now() - endsAtMs).toBeGreaterThan(-50)
        expect(Date.now() - endsAtMs).toBeLessThan(1_000)
        const { connect } = await connectBy(way, { baseUrl, message: { ...message, token } })
        entryOf('waiting', connect, 'station:harbour_fm')
      })
    )
    expect(ofPublic.kinds).not.toContain('disconnect')
  })

  test('revoked tokens end at once, also on connections with a delay; later tokens are valid', async ({
    redisUrl
  }) => {
    const { baseUrl, redis } = await serveStations(redisUrl)
    const token = tokens.issue(claims())
    const readers = await Promise.all(
      ['', 'delay=60'].map(async query => {
        const { reader } = await connectBy('curl: http_stream', {
          baseUrl,
          query,
          message: { ...message, token }
        })
        return reader
      })
    )
    await putState(redis, changed(2, 1))
    for (const reader of readers)
      expect((await reader.until('disconnect')).disconnect).toEqual({ code: 3005, reason: 'token expired' })
    const later = { ...message, token: tokens.issue(claims({ generation: 1 })) }
    const { connect } = await connectBy('curl: http_stream', { baseUrl, message: later })
    entryOf('recovered', connect, 'station:harbour_fm')
  })

  test('a later frame renews the token', async ({ redisUrl }) => {
    const { baseUrl, redis } = await serveStations(redisUrl)
    const endsAtMs = Math.ceil(Date.now() / 1_000) * 1_000 + 1_000
    const client = openWebSocket({
      baseUrl,
      message: { ...message, token: tokens.issue(claims({ endsAtMs })) }
    })
    await client.until('connect')
    client.socket.send(JSON.stringify({ ...message, token: tokens.issue(claims()) }))
    await client.until('pub')
    await waitFor(() => Date.now() > endsAtMs + 100, { deadlineMs: 5_000, what: 'the first token to expire' })
    await putState(redis, changed(2, 0))
    expect((await client.until('pub')).pub.offset).toBe(2)
  })

  test.for(transports)(
    '%s: a full station refuses connections, and keeps others',
    async (way, { redisUrl }) => {
      const { baseUrl, redis } = await serveStations(redisUrl, { followers: openFollowers(1) })
      const token = tokens.issue(claims())
      // Without access the station is unknown, so it takes no place.
      await connectBy(way, { baseUrl, message })
      const { reader: first } = await connectBy(way, { baseUrl, message: { ...message, token } })
      const refused = openWay(way, { baseUrl, message: { ...message, token } })
      expect((await refused.until('disconnect')).disconnect).toEqual({
        code: 3013,
        reason: 'too many connections to a station'
      })
      expect(refused.kinds).toEqual(['disconnect'])
      await putState(redis, changed(2, 0))
      expect((await first.until('pub')).pub.offset).toBe(2)
      first.close()
      await waitFor(
        async () => {
          const next = openWay(way, { baseUrl, message: { ...message, token } })
          return next.until('connect').then(
            () => true,
            () => false
          )
        },
        { deadlineMs: 5_000, what: 'the free place' }
      )
    }
  )

  test('an EventSource that is refused by a full station waits before it connects again', async ({
    redisUrl
  }) => {
    const { baseUrl } = await serveStations(redisUrl, { followers: openFollowers(1) })
    const body = JSON.stringify(subsOf('station:open'))
    await connectBy('curl: http_stream', { baseUrl, message: body })
    const response = await fetch(`${baseUrl}${livePath}/sse`, { method: 'POST', body })
    const [, ms] = /\n\nretry: (\d+)\n\n$/.exec(await response.text()) ?? []
    expect(Number(ms)).toBeGreaterThanOrEqual(5_000)
  })
})

test('followers of all processes are added; those that Redis lost are written again', async ({ redis }) => {
  const nowMs = Date.now()
  const counts = (websocket: number) => ({ websocket, sse: 1, http_stream: 0, long_poll: 2 })
  const write = async (processId: string, websocket: number | null, atMs: number, replacesAll = false) =>
    writeFollowers(redis, processId, new Map([[7, websocket === null ? null : counts(websocket)]]), {
      nowMs: atMs,
      replacesAll
    })
  expect((await readFollowers(redis, 7, nowMs)).atMs).toBeNull()
  expect(await write('one', 3, nowMs - 1_000, true)).toBe(true)
  expect(await write('two', 4, nowMs, true)).toBe(true)
  expect(await readFollowers(redis, 7, nowMs)).toEqual({
    atMs: nowMs - 1_000,
    counts: { websocket: 7, sse: 2, http_stream: 0, long_poll: 4 }
  })
  expect((await readFollowers(redis, 8, nowMs)).counts).toMatchObject({ websocket: 0 })
  expect(await write('two', null, nowMs)).toBe(true)
  expect((await readFollowers(redis, 7, nowMs)).counts).toEqual(counts(3))
  expect((await readFollowers(redis, 7, nowMs + 9_500)).counts).toMatchObject({ websocket: 0 })
  await redis.flushall()
  expect(await write('one', 3, nowMs)).toBe(false)
})

/** A private station, with the mount that new stations have. */
async function openStation({ ask }: Program): Promise<{ id: number; name: string }> {
  const name = `hidden_${randomBytes(4).toString('hex')}`
  const made = await ask('POST', '/api/admin/stations', {
    body: { name: 'Hidden', short_name: name, is_public: false }
  })
  expect(made.status).toBe(200)
  const { id } = made.body
  const isShown = async () => (await ask('GET', `/api/nowplaying/${id}`)).status === 200
  await waitFor(isShown, { deadlineMs: 10_000, what: 'the station to be shown' })
  return { id, name }
}

async function makeToken({ ask }: Program, stationId: number, body: object = {}) {
  const made = await ask('POST', `/api/station/${stationId}/listen-tokens`, { body })
  expect(made.status).toBe(200)
  return made.body
}

test('a token opens the reads of its station, nothing else, and until the tokens are revoked', async ({
  program
}) => {
  const { ask, baseUrl } = program
  const [station, other] = await Promise.all([openStation(program), openStation(program)])
  const made = await makeToken(program, station.id, { expires_in: 600, subject: 'anna' })
  expect(made).toMatchObject({ expires_in: 600, subject: 'anna' })
  expect(Math.abs(made.expires_at - Date.now() / 1_000 - 600)).toBeLessThan(5)
  expect(made.player_url).toMatch(`/public/${station.name}?token=${made.token}`)
  const { token: ofOther } = await makeToken(program, other.id)

  const get = async (path: string, headers: Record<string, string> = {}) =>
    fetch(baseUrl + path, { headers, redirect: 'manual' })
  const art = `/api/nowplaying/${station.name}/art`
  const reads = [
    `/api/nowplaying/${station.id}`,
    `/api/nowplaying_static/${station.name}.json`,
    `/api/nowplaying_static/${station.name}.txt`,
    `/api/station/${station.id}`,
    `/api/station/${station.id}/schedule`,
    `/api/station/${station.id}/requests`,
    `/public/${station.name}`,
    `/public/${station.name}/embed`,
    `/public/${station.name}/playlist.m3u`
  ]
  for (const path of reads) {
    const shown = [await get(`${path}?token=${made.token}`), await get(path, { 'X-API-Key': made.token })]
    for (const response of shown) {
      expect([path, response.status]).toEqual([path, 200])
      expect(response.headers.get('cache-control')).toContain('no-store')
      expect(await response.text()).not.toContain('api_key')
    }
    for (const bad of [ofOther, `${made.token}A`, 'lt1_', ''])
      expect([path, (await get(`${path}?token=${bad}`)).status]).toEqual([path, 404])
  }
  expect((await get(`${art}?token=${made.token}`)).status).toBe(302)
  expect((await get(`${art}?token=${ofOther}`)).status).toBe(404)

  const page = await get(`/public/${station.name}/embed?token=${made.token}`)
  expect(page.headers.get('referrer-policy')).toBe('no-referrer')
  expect(await page.text()).toContain(`token="${made.token}"`)
  const playlist = await (await get(`/public/${station.name}/playlist.m3u?token=${made.token}`)).text()
  expect(playlist).toContain(`/listen/${station.name}/radio.mp3?token=${made.token}`)
  // Without a public address of the streaming server there is no redirect, but the station is not hidden.
  const stream = await get(`/listen/${station.name}/radio.mp3?token=${made.token}`)
  expect(await stream.text()).toContain('has no public address')
  expect(await (await get(`/listen/${station.name}/radio.mp3?token=${ofOther}`)).text()).not.toContain(
    'address'
  )

  const lists = [
    `/api/nowplaying?stations=${station.id}&token=${made.token}`,
    `/api/stations?token=${made.token}`
  ]
  for (const path of lists) expect((await (await get(path)).text()).includes(station.name)).toBe(false)
  const keyed = [
    ['GET', `/api/station/${station.id}/queue`],
    ['POST', `/api/station/${station.id}/listen-tokens`],
    ['GET', '/api/v1/main/api-keys/current']
  ] as const
  for (const [method, path] of keyed)
    expect([path, (await ask(method, path, { key: made.token, body: undefined })).status]).toEqual([
      path,
      403
    ])
  const request = await ask('POST', `/api/station/${station.id}/request/1`, { key: made.token })
  expect(request.status).toBe(404)
  expect(request.body.message).not.toContain('request')

  const offset = (await get(`${reads[0]}?token=${made.token}`)).headers.get('x-cuewire-offset') ?? ''
  const polled = get(`${reads[0]}?wait=20&since=${offset}&token=${made.token}`)
  const revoked = await ask('DELETE', `/api/station/${station.id}/listen-tokens`)
  expect(revoked.body.success).toBe(true)
  await waitFor(async () => (await get(`${reads[0]}?token=${made.token}`)).status === 404, {
    deadlineMs: 1_000,
    what: 'the revocation'
  })
  const { token: next } = await makeToken(program, station.id)
  expect((await get(`${reads[0]}?token=${next}`)).status).toBe(200)
  expect((await get(`/api/nowplaying/${other.id}?token=${ofOther}`)).status).toBe(200)
  expect((await polled).status).not.toBe(304)
})

test('a body out of range is refused, and its field named', async ({ program }) => {
  const { id } = await openStation(program)
  for (const [field, value] of [
    ['expires_in', 9],
    ['expires_in', 86_401],
    ['expires_in', '1h'],
    ['subject', 'x'.repeat(65)]
  ] as const) {
    const path = `/api/station/${id}/listen-tokens`
    const refused = await program.ask('POST', path, { body: { [field]: value } })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toContain(field)
  }
})

test('the client library renews its token, and occupancy counts it', async ({ program }) => {
  const station = await openStation(program)
  let count = 0
  const follower = followStation({
    server: program.baseUrl,
    station: station.id,
    WebSocket,
    transports: ['websocket'],
    // The client renews a token when it has used up most of the lifetime that it was told.
    token: async () => {
      count++
      return { ...(await makeToken(program, station.id)), expires_in: count === 1 ? 1 : 600 }
    }
  })
  const statuses: string[] = []
  follower.on('status', ({ status }) => statuses.push(status))
  try {
    await waitFor(() => count === 2 && follower.snapshot.status === 'live', {
      deadlineMs: 10_000,
      what: 'the renewal'
    })
    expect(statuses).toEqual(['live'])
    const occupancy = await waitFor(
      async () => {
        const { body } = await program.ask('GET', `/api/station/${station.id}/occupancy`)
        return body.total === 1 ? body : null
      },
      { deadlineMs: 10_000, what: 'the follower to be counted' }
    )
    expect(occupancy).toEqual({
      at: expect.any(Number),
      total: 1,
      by_transport: { websocket: 1, sse: 0, http_stream: 0, long_poll: 0 }
    })
  } finally {
    follower.close()
  }
})
