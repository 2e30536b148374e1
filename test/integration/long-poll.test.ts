import { setMaxListeners } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect } from 'vitest'

import type { StationState } from '../../src/model/station/state.ts'
import { removeStationState } from '../../src/stores/redis/station-store.ts'
import { serveApi } from '../support/api-server.ts'
import { afterSong, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly, type PlainResponse, type PlainOptions } from '../support/plain-http.ts'
import { putState } from '../support/put-state.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const harbour = aStation({ offset: 7 })
const next = afterSong(harbour, { title: 'Night Ferry' })
const secret = aStation({ stationId: 3, offset: 7, profile: { shortName: 'secret', isPublic: false } })

const polled = [
  '/api/nowplaying/1',
  '/api/nowplaying/harbour_fm',
  '/api/station/harbour_fm/nowplaying',
  '/api/nowplaying_static/harbour_fm.json'
]

/** Tolerance for changes and timers: the quick tier runs beside other work. */
const promptMs = sized({ quick: 1_000, deep: 100 })
const lateMs = sized({ quick: 5_000, deep: 800 })

const titleOf = ({ body }: PlainResponse) => JSON.parse(body.toString()).now_playing.song.title

/** Sends a request and measures its time. */
async function timed(url: string, options: PlainOptions = {}) {
  const startedAtMs = Date.now()
  const response = await askPlainly(url, options)
  return { response, tookMs: Date.now() - startedAtMs }
}

/** Waits until there are this many long polls. */
const waiting = (server: { longPolls: { size: () => number } }, count: number) =>
  waitFor(() => server.longPolls.size() === count, { deadlineMs: 15_000, what: `${count} long polls` })

/** Starts many polls at once. Returns their responses. */
const startMany = (count: number, url: string, options: PlainOptions = {}) =>
  Promise.all(Array.from({ length: count }, () => askPlainly(url, options)))

/** The size of the heap after garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') for (let turn = 0; turn < 3; turn++) collect()
  return process.memoryUsage().heapUsed
}

describe('a long poll', () => {
  test.for(polled)(`on %s is answered within ${promptMs} ms of a change`, async (path, { sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    let heardAtMs = 0
    server.feed.onChange(() => void (heardAtMs = performance.now()))
    const tookMs: number[] = []
    let before = harbour
    // On a busy machine one response may be late, but not all.
    for (const title of ['Night Ferry', 'Slow Tide', 'Fog Horn']) {
      const responded = askPlainly(`${server.base}${path}?wait=30&since=${before.offset}`)
      await waiting(server, 1)
      const after = afterSong(before, { title })
      await putState(server.redis, after)
      const response = await responded
      tookMs.push(performance.now() - heardAtMs)
      expect(response.status).toBe(200)
      expect(titleOf(response)).toBe(title)
      expect(response.headers).toMatchObject({
        'x-cuewire-offset': String(after.offset),
        'x-cuewire-epoch': 'e1',
        'cache-control': 'public, max-age=1'
      })
      expect(server.longPolls.size()).toBe(0)
      before = after
    }
    expect(Math.min(...tookMs)).toBeLessThan(promptMs)
  })

  test('is answered at once if the state is newer', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour)
    for (const query of [
      'wait=30&since=6',
      'wait=30&since=7&epoch=e0',
      'wait=30&since=9&epoch=other',
      'wait=30'
    ]) {
      const { response, tookMs } = await timed(`${base}/api/nowplaying/1?${query}`)
      expect([query, response.status]).toEqual([query, 200])
      expect(tookMs).toBeLessThan(10_000)
    }
  })

  test('without a change ends with 304, with the position of the state and no entity tag', async ({
    sql,
    redisUrl
  }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour)
    for (const [wait, atLeast] of [
      [1, 1_000],
      [0, 0]
    ] as const) {
      const { response, tookMs } = await timed(`${base}/api/nowplaying/1?wait=${wait}&since=7&epoch=e1`)
      expect(response.status).toBe(304)
      expect(response.body).toHaveLength(0)
      expect(tookMs).toBeGreaterThanOrEqual(atLeast)
      expect(tookMs).toBeLessThan(atLeast + lateMs)
      expect(response.headers).toMatchObject({
        'x-cuewire-offset': '7',
        'x-cuewire-epoch': 'e1',
        'cache-control': 'no-store',
        'access-control-allow-origin': '*'
      })
      expect(response.headers).not.toHaveProperty('etag')
    }
  })

  test('is ended by another epoch, whatever its offset', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const responses = Promise.all(
      ['wait=30&since=7', 'wait=30&since=7&epoch=e1'].map(query =>
        askPlainly(`${server.base}/api/nowplaying/1?${query}`)
      )
    )
    await waiting(server, 2)
    const rebuilt: StationState = {
      ...next,
      epoch: 'e2',
      offset: 1,
      revisions: { ...next.revisions, playback: 9 }
    }
    await putState(server.redis, rebuilt)
    for (const { status, headers } of await responses)
      expect([status, headers['x-cuewire-epoch'], headers['x-cuewire-offset']]).toEqual([200, 'e2', '1'])
  })

  test('with an offset that another server may have sent waits for a higher one', async ({
    sql,
    redisUrl
  }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const ahead = askPlainly(`${server.base}/api/nowplaying/1?wait=2&since=99`)
    const farAhead = askPlainly(`${server.base}/api/nowplaying/1?wait=30&since=99&epoch=e1`)
    await waiting(server, 2)
    await putState(server.redis, next)
    expect((await ahead).status).toBe(304)
    await putState(server.redis, { ...afterSong(next), offset: 100 })
    expect((await farAhead).headers['x-cuewire-offset']).toBe('100')
  })

  test('with an offset that was never sent is answered at once', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const { status, headers } = await askPlainly(
      `${server.base}/api/nowplaying/1?wait=30&since=${2 ** 53 - 1}`
    )
    expect([status, headers['x-cuewire-offset']]).toEqual([200, '7'])
  })

  test.for([
    ['wait=x&since=1', ['wait']],
    ['wait=61&since=1', ['wait']],
    ['wait=-1&since=1', ['wait']],
    ['wait=1.5&since=1', ['wait']],
    ['wait=30&since=-1', ['since']],
    ['wait=30&since=abc', ['since']],
    ['wait=30&since=1e999', ['since']],
    ['wait=30&since=99999999999999999999', ['since']],
    ['wait=x&since=y', ['wait', 'since']],
    ['w%61it=x', ['wait']]
  ] as const)('that is malformed (%s) is refused naming it', async ([query, fields], { sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour)
    for (const path of polled) {
      const { status, body } = await askPlainly(`${base}${path}?${query}`)
      expect(status).toBe(400)
      const errors: { field: string }[] = JSON.parse(body.toString()).extra_data.errors
      expect(errors.map(({ field }) => field)).toEqual(fields)
    }
  })

  test('answers HEAD like GET', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const response = askPlainly(`${server.base}/api/nowplaying/1?wait=30&since=7`, { method: 'HEAD' })
    await waiting(server, 1)
    await putState(server.redis, next)
    const { status, headers, body } = await response
    expect([status, body.length]).toEqual([200, 0])
    expect(Number(headers['content-length'])).toBeGreaterThan(500)
  })

  test('may be compressed', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const codings: unknown[] = []
    let before = harbour
    // A response is sent uncompressed if its compression takes past the end of a second.
    for (const title of ['Night Ferry', 'Slow Tide', 'Fog Horn', 'Low Water']) {
      const url = `${server.base}/api/nowplaying/1?wait=30&since=${before.offset}`
      const response = askPlainly(url, { headers: { 'Accept-Encoding': 'br' } })
      await waiting(server, 1)
      before = afterSong(before, { title })
      await putState(server.redis, before)
      const { status, headers } = await response
      expect(status).toBe(200)
      codings.push(headers['content-encoding'])
    }
    expect(codings).toContain('br')
  })

  test('beyond the limit is refused with Retry-After, and places are freed', async ({ sql, redisUrl }) => {
    let room = 1
    const asked: string[] = []
    const admit = (address: string) => {
      asked.push(address)
      if (room === 0) return null
      room -= 1
      return () => void (room += 1)
    }
    const server = await serveApi(sql, redisUrl, { admit })
    await server.add(harbour)
    const first = askPlainly(`${server.base}/api/nowplaying/1?wait=30&since=7`)
    await waiting(server, 1)
    const { response, tookMs } = await timed(`${server.base}/api/nowplaying/1?wait=30&since=7`)
    expect(response.status).toBe(429)
    expect(Number(response.headers['retry-after'])).toBeGreaterThanOrEqual(5)
    expect(tookMs).toBeLessThan(10_000)
    await putState(server.redis, next)
    expect((await first).status).toBe(200)
    expect(room).toBe(1)
    expect(asked).toEqual(['127.0.0.1', '127.0.0.1'])
  })

  test('ends with 304 when the server shuts down', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const count = sized({ quick: 300, deep: 1_200 })
    const responses = startMany(count, `${server.base}/api/nowplaying/1?wait=60&since=7`)
    await waiting(server, count)
    await server.longPolls.release()
    for (const { status, headers } of await responses)
      expect([status, headers['x-cuewire-offset']]).toEqual([304, '7'])
    expect((await askPlainly(`${server.base}/api/nowplaying/1?wait=60&since=7`)).status).toBe(304)
  })
})

describe('long polls of a private station', () => {
  test('require a key, and end on changes like others', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(secret)
    const headers = { 'X-API-Key': await server.makeKey() }
    const url = `${server.base}/api/nowplaying/secret?wait=30&since=7`
    expect((await askPlainly(url)).status).toBe(404)
    const responded = askPlainly(url, { headers })
    await waiting(server, 1)
    await putState(server.redis, afterSong(secret, { title: 'Night Ferry' }))
    const response = await responded
    expect([response.status, response.headers['cache-control']]).toEqual([200, 'private, no-store'])
    expect(titleOf(response)).toBe('Night Ferry')
  })

  test('end in 404 once the key is revoked', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(secret)
    const headers = { 'X-API-Key': await server.makeKey() }
    const url = `${server.base}/api/nowplaying/secret`
    const responded = askPlainly(`${url}?wait=30&since=7`, { headers })
    await waiting(server, 1)
    await sql`update api_keys set revoked_at = now()`
    await waitFor(async () => (await askPlainly(url, { headers })).status === 404, {
      deadlineMs: 10_000,
      what: 'the revocation to work'
    })
    await putState(server.redis, afterSong(secret))
    const [refused, unknown] = await Promise.all([
      responded,
      askPlainly(`${server.base}/api/nowplaying/nobody`)
    ])
    expect(refused.status).toBe(404)
    expect(refused.body).toEqual(unknown.body)
  })

  test('end in 404 when the station becomes private', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const responded = askPlainly(`${server.base}/api/nowplaying/1?wait=30&since=7`)
    await waiting(server, 1)
    await putState(server.redis, { ...next, profile: { ...next.profile, isPublic: false } })
    expect((await responded).status).toBe(404)
  })
})

test('a long poll for a station that is deleted ends in 404 at once', async ({ sql, redisUrl }) => {
  const server = await serveApi(sql, redisUrl)
  await server.add(harbour)
  const responded = askPlainly(`${server.base}/api/nowplaying/1?wait=30&since=7`)
  await waiting(server, 1)
  await removeStationState(server.redis, 1)
  const sinceMs = Date.now()
  expect((await responded).status).toBe(404)
  expect(Date.now() - sinceMs).toBeLessThan(15_000)
})

/** Number of concurrent long polls. */
const crowd = sized({ quick: 500, deep: 2_000 })

describe('many long polls', () => {
  test('all end on one change', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const responses = startMany(crowd, `${server.base}/api/nowplaying/1?wait=60&since=7`)
    await waiting(server, crowd)
    await putState(server.redis, next)
    const all = await responses
    expect(all).toHaveLength(crowd)
    expect(all.every(({ status, headers }) => status === 200 && headers['x-cuewire-offset'] === '8')).toBe(
      true
    )
    expect(server.longPolls.size()).toBe(0)
  })

  test('are removed when their clients disconnect, without leaking memory', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const url = `${server.base}/api/nowplaying/1?wait=60&since=7`
    const comeAndGo = async () => {
      const leaving = new AbortController()
      setMaxListeners(0, leaving.signal)
      const left = startMany(crowd, url, { signal: leaving.signal }).catch(() => 'left')
      await waiting(server, crowd + 1)
      leaving.abort()
      expect(await left).toBe('left')
      await waiting(server, 1)
    }
    const staying = askPlainly(url)
    await waiting(server, 1)
    await comeAndGo()
    const before = heldBytes()
    for (let round = 0; round < 3; round++) await comeAndGo()
    // Of 6,000 long polls, or 1,500: some hundred bytes of each would show.
    expect(heldBytes() - before).toBeLessThan(sized({ quick: 1_000_000, deep: 1_500_000 }))
    await putState(server.redis, next)
    expect((await staying).status).toBe(200)
  })

  test('outlast the timeout of idle connections', async ({ sql, redisUrl }) => {
    const server = await serveApi(sql, redisUrl)
    await server.add(harbour)
    const { response, tookMs } = await timed(`${server.base}/api/nowplaying/1?wait=16&since=7`)
    expect(response.status).toBe(304)
    expect(tookMs).toBeGreaterThanOrEqual(16_000)
  })
})
