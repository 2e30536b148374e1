import net from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { describe, expect, onTestFinished, vi } from 'vitest'

import { apiRoutes } from '../../src/api/routes.ts'
import { sendTimeoutMs } from '../../src/http/response-stream.ts'
import { openUwsApp, listenOnPort } from '../../src/http/uws.ts'
import { serveHotGets } from '../../src/live/hot-gets.ts'
import { hotResponseCounts } from '../../src/platform/metrics/http.ts'
import { serveApi } from '../support/api-server.ts'
import { afterSong, aPlay, aSong, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly, type PlainResponse, type PlainOptions } from '../support/plain-http.ts'
import { putState } from '../support/put-state.ts'
import { sized } from '../support/tier.ts'
import { waitFor } from '../support/wait.ts'

const custom = { customFields: [{ id: 1, shortName: 'mood' }] }
const song = aSong({ artId: '5f1c0a9e2b7d5f1c0a9e2b7d-1a', customFields: { 1: 'calm' } })
/** A song of ten minutes that began a minute ago. */
const running = () => aPlay({ startedAtMs: Date.now() - 60_000, durationMs: 600_000, song })
const harbour = () => aStation({ offset: 7, shown: running(), profile: custom })
const silent = aStation({ stationId: 2, shown: null, profile: { shortName: 'silent' } })
const secret = () =>
  aStation({ stationId: 3, shown: running(), profile: { shortName: 'secret', isPublic: false } })

/** All public addresses of a document or redirect of a station. */
const pathsOf = (key: string | number) => [
  `/api/nowplaying/${key}`,
  `/api/station/${key}/nowplaying`,
  `/api/nowplaying_static/${key}.json`,
  `/api/nowplaying_static/${key}.txt`,
  `/api/nowplaying/${key}/art`,
  `/api/nowplaying/${key}/art/1783468800.jpg`
]
const documentPaths = (key: string | number) => pathsOf(key).slice(0, 4)

/** Makes a request use the general routes: cached responses are not used with a request id of the client. */
const general = { 'X-Request-Id': 'mine' }

const textOf = ({ body }: PlainResponse) => body.toString()
const parse = (response: PlainResponse) => JSON.parse(textOf(response))

/** The parts of a response that cached and general routes must have in common. */
function comparable({ status, headers, body }: PlainResponse) {
  const { date: _date, 'x-request-id': _id, ...others } = headers
  return { status, headers: others, body: body.toString('latin1') }
}

/** Sends two requests, repeated until both were answered in the same second. */
async function askBoth(url: string, one: PlainOptions, other: PlainOptions) {
  return waitFor(
    async () => {
      // The clock of the server may differ by some milliseconds.
      const startedAt = Math.floor((Date.now() - 50) / 1000)
      const both = [await askPlainly(url, one), await askPlainly(url, other)] as const
      return startedAt === Math.floor((Date.now() + 50) / 1000) && both
    },
    { deadlineMs: 5_000, what: 'two answers in one second' }
  )
}

/** Waits until the next second of the clock. */
async function nextSecond(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1000)
  const before = second()
  await waitFor(() => second() > before, { deadlineMs: 2_000, what: 'the next second' })
}

describe('a document', () => {
  test('has the elapsed time of the second in which it is sent, on every path and in both renderings', async ({
    sql,
    redisUrl
  }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    const state = harbour()
    await add(state)
    const startedAt = Math.floor((state.shown?.startedAtMs ?? 0) / 1000)
    for (const key of [1, 'harbour_fm']) {
      for (const path of documentPaths(key).slice(0, 3)) {
        // The time of the database may be a few milliseconds behind.
        const before = Math.floor((Date.now() - 50) / 1000)
        const response = await askPlainly(base + path)
        const { elapsed, remaining } = parse(response).now_playing
        expect(elapsed).toBeGreaterThanOrEqual(before - startedAt)
        expect(elapsed).toBeLessThanOrEqual(Math.floor(Date.now() / 1000) - startedAt)
        expect(elapsed + remaining).toBe(600)
        expect(response.headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'public, max-age=1',
          vary: 'Accept-Encoding, X-API-Key, Authorization',
          'x-cuewire-epoch': 'e1',
          'x-cuewire-offset': '7',
          'access-control-allow-origin': '*'
        })
        expect(response.headers['access-control-expose-headers']).toContain('X-Cuewire-Offset')
      }
    }
  })

  test('differs between the renderings only in the documented members', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour())
    const rest = parse(await askPlainly(`${base}/api/nowplaying/1`))
    const event = parse(await askPlainly(`${base}/api/nowplaying_static/harbour_fm.json`))
    expect(rest.now_playing.song.custom_fields).toEqual(['calm'])
    expect(event.now_playing.song.custom_fields).toEqual({ mood: 'calm' })
    expect([rest.live.broadcast_start, event.live.broadcast_start]).toEqual(['', null])
    expect([rest.live.art, event.live.art]).toEqual(['', null])
    expect([rest.cache, event.cache]).toEqual(['hit', 'event'])
    expect(event.station).toEqual(rest.station)
  })

  test('is available as a line of text', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour(), silent)
    const response = await askPlainly(`${base}/api/nowplaying_static/harbour_fm.txt`)
    expect(textOf(response)).toBe('Nils Okada - Paper Lanterns')
    expect(response.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=1',
      'x-cuewire-offset': '7'
    })
    expect(textOf(await askPlainly(`${base}/api/nowplaying_static/2.txt`))).toBe('Station Offline')
  })

  test('redirects to its cover', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour(), silent)
    const shown = parse(await askPlainly(`${base}/api/nowplaying/1`)).now_playing.song.art
    expect(shown).toMatch(/^https:\/\/radio\.example\.com\/api\/station\/harbour_fm\/art\/5f1c/)
    for (const path of pathsOf('harbour_fm').slice(4)) {
      const { status, headers } = await askPlainly(base + path)
      expect([status, headers.location, headers['cache-control']]).toEqual([302, shown, 'public, max-age=1'])
    }
    const offline = parse(await askPlainly(`${base}/api/nowplaying/2`)).now_playing.song.art
    expect((await askPlainly(`${base}/api/nowplaying/2/art`)).headers.location).toBe(offline)
    expect((await askPlainly(`${base}/api/nowplaying/1/art/x.png`)).status).toBe(404)
  })

  test('is the same from the cached and from the general route', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour(), silent)
    const asItIs: Record<string, string> = {}
    const accepted = [asItIs, { 'Accept-Encoding': 'gzip' }, { 'Accept-Encoding': 'br' }]
    for (const path of ['/api/nowplaying', ...documentPaths(1), ...documentPaths('silent')]) {
      for (const method of ['GET', 'HEAD']) {
        for (const headers of accepted) {
          const [plain, other] = await askBoth(
            base + path,
            { method, headers },
            { method, headers: { ...headers, ...general } }
          )
          expect(plain.status).toBe(200)
          expect(comparable(plain)).toEqual(comparable(other))
          // The first compressed response of a document comes from the general route.
          const id = headers === asItIs ? /^[0-9a-f]{12}-\d{10}$/ : /^[\w-]{20,36}$/
          expect(plain.headers['x-request-id']).toMatch(id)
          expect(other.headers['x-request-id']).toBe('mine')
        }
      }
    }
  })

  test('ignores unknown query parameters', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour())
    for (const query of ['_=1783468800123', '1783468800123', 'coversync=', '%zz', 'x=%20', 'since', 'wait='])
      expect((await askPlainly(`${base}/api/nowplaying/1?${query}`)).status).toBe(200)
    expect((await askPlainly(`${base}/api/nowplaying/harbour%5Ffm`)).status).toBe(200)
  })
})

test('requests with a parameter of the API are left to the general routes', async ({ sql, redisUrl }) => {
  const { base, add } = await serveApi(sql, redisUrl)
  await add(harbour())
  for (const path of ['/api/nowplaying', ...documentPaths(':station_id')]) {
    const url = base + path.replace(':station_id', '1')
    const before = hotResponseCounts.found
    await askPlainly(url)
    const route = apiRoutes.find(each => each.method === 'GET' && each.path === path)
    expect(route?.path).toBe(path)
    for (const name of [...Object.keys(route?.operation?.query ?? {}), 'api_key', 'token']) {
      await askPlainly(`${url}?${name}=1`)
      expect([path, name, hotResponseCounts.found]).toEqual([path, name, before + 1])
    }
  }
})

describe('an entity tag', () => {
  test('returns 304 only while the body is unchanged', async ({ sql, redisUrl }) => {
    const { base, redis, add } = await serveApi(sql, redisUrl)
    const state = harbour()
    await add(state, silent)
    for (const path of ['/api/nowplaying', ...documentPaths('harbour_fm')]) {
      for (const way of [{}, general]) {
        const [first, again] = await waitFor(
          async () => {
            const response = await askPlainly(base + path, { headers: way })
            const etag = String(response.headers.etag)
            const next = await askPlainly(base + path, { headers: { ...way, 'If-None-Match': etag } })
            return next.status === 304 && ([response, next] as const)
          },
          { deadlineMs: 5_000, what: 'a 304' }
        )
        expect(again.body).toHaveLength(0)
        for (const name of [
          'etag',
          'cache-control',
          'vary',
          'x-cuewire-offset',
          'access-control-allow-origin'
        ])
          expect([name, again.headers[name]]).toEqual([name, first.headers[name]])
        expect(again.headers).not.toHaveProperty('content-type')
        expect(again.headers).not.toHaveProperty('content-length')
      }
    }
    // Responses with the same entity tag have the same body, over three seconds and a change.
    const bodies = new Map<string, string>()
    const known = async (path: string) => {
      const response = await askPlainly(base + path)
      const etag = String(response.headers.etag)
      expect(bodies.get(etag) ?? textOf(response)).toBe(textOf(response))
      bodies.set(etag, textOf(response))
    }
    for (let second = 0; second < 3; second++) {
      for (let round = 0; round < 5; round++)
        for (const path of ['/api/nowplaying', ...documentPaths(1).slice(1)]) await known(path)
      if (second === 1) await putState(redis, afterSong(state, { title: 'Night Ferry' }))
      await nextSecond()
    }
    expect(bodies.size).toBeGreaterThan(9)
    expect(new Set(bodies.values()).size).toBe(bodies.size)
  })

  test('of a silent station does not change from second to second', async ({ sql, redisUrl }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(silent)
    for (const path of ['/api/nowplaying', ...documentPaths(2)]) {
      const { etag } = (await askPlainly(base + path)).headers
      await nextSecond()
      const again = await askPlainly(base + path, { headers: { 'If-None-Match': `"x", ${String(etag)}` } })
      expect([path, again.status]).toEqual([path, 304])
    }
  })
})

describe('a compressed response', () => {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync }

  test.for(['br', 'gzip'] as const)(
    'in %s decodes to the same bytes',
    async (encoding, { sql, redisUrl }) => {
      const { base, add } = await serveApi(sql, redisUrl)
      await add(harbour(), silent)
      for (const path of ['/api/nowplaying', ...documentPaths(1).slice(0, 3)]) {
        const [whole, small] = await askBoth(base + path, {}, { headers: { 'Accept-Encoding': encoding } })
        expect(small.headers['content-encoding']).toBe(encoding)
        expect(decoders[encoding](small.body).toString()).toBe(textOf(whole))
        expect(small.body.length).toBeLessThan(whole.body.length)
        expect(Number(small.headers['content-length'])).toBe(small.body.length)
        expect(small.headers.etag).toBe(whole.headers.etag)
        expect(whole.headers).not.toHaveProperty('content-encoding')
      }
    }
  )

  test('is not sent if the client does not accept it, or if the body is too short', async ({
    sql,
    redisUrl
  }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour())
    for (const accepted of ['identity', 'gzip;q=0', 'deflate', 'br;q=0.1, identity']) {
      const { headers } = await askPlainly(`${base}/api/nowplaying/1`, {
        headers: { 'Accept-Encoding': accepted }
      })
      expect(headers).not.toHaveProperty('content-encoding')
      expect(headers.vary).toBe('Accept-Encoding, X-API-Key, Authorization')
    }
    const line = await askPlainly(`${base}/api/nowplaying_static/1.txt`, {
      headers: { 'Accept-Encoding': 'br' }
    })
    expect(line.headers).not.toHaveProperty('content-encoding')
  })

  test('has the elapsed time of the second in which it is sent, with many concurrent requests', async ({
    sql,
    redisUrl
  }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    const state = harbour()
    await add(state)
    const startedAt = Math.floor((state.shown?.startedAtMs ?? 0) / 1000)
    // Some of these responses are rendered in one second and sent in the next.
    const until = Date.now() + sized({ quick: 1_100, deep: 2_000 })
    while (Date.now() < until) {
      const before = Math.floor(Date.now() / 1000)
      const responses = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          askPlainly(`${base}/api/nowplaying/1`, {
            headers: { 'Accept-Encoding': n % 2 ? 'gzip' : 'br' }
          })
        )
      )
      const after = Math.floor(Date.now() / 1000)
      for (const { headers, body } of responses) {
        const decode = { br: brotliDecompressSync, gzip: gunzipSync }[String(headers['content-encoding'])]
        const { elapsed } = JSON.parse(String(decode ? decode(body) : body)).now_playing
        expect(elapsed).toBeGreaterThanOrEqual(before - startedAt)
        expect(elapsed).toBeLessThanOrEqual(after - startedAt)
      }
    }
  })
})

test('HEAD has the headers of GET and no body, and the connection stays open', async ({ sql, redisUrl }) => {
  const { base, add } = await serveApi(sql, redisUrl)
  await add(harbour())
  for (const path of ['/api/nowplaying', ...documentPaths(1)]) {
    for (const headers of [{}, { 'Accept-Encoding': 'gzip' }, general]) {
      const [get, head] = await askBoth(base + path, { headers }, { method: 'HEAD', headers })
      expect(head.body).toHaveLength(0)
      expect({ ...comparable(head), body: '' }).toEqual({ ...comparable(get), body: '' })
      expect(Number(head.headers['content-length'])).toBe(get.body.length)
    }
  }
})

test('a list of many stations arrives completely', async ({ sql, redisUrl }) => {
  const { base, add } = await serveApi(sql, redisUrl)
  const description = 'Slow radio by the sea. '.repeat(120)
  const states = Array.from({ length: 120 }, (_, index) =>
    aStation({ stationId: index + 1, shown: running(), profile: { shortName: `s${index}`, description } })
  )
  await add(...states)
  const both = [{}, general, { 'Accept-Encoding': 'br' }]
  for (const headers of both) {
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => askPlainly(`${base}/api/nowplaying`, { headers }))
    )
    for (const { headers: got, body } of responses) {
      const text = String(got['content-encoding'] === 'br' ? brotliDecompressSync(body) : body)
      expect(text.length).toBeGreaterThan(300 * 1024)
      expect(JSON.parse(text)).toHaveLength(120)
    }
  }
})

test('a client that does not read a large list is disconnected', async () => {
  const app = openUwsApp()
  const inFlight = { count: 0 }
  const document = { body: Buffer.alloc(16 * 2 ** 20), etag: '', position: null }
  const live = { publicDocument: () => document, publicList: () => document }
  serveHotGets(app, { live, inFlight, corsOrigins: ['*'] })
  const { port } = await listenOnPort(app, '127.0.0.1', 0, { exclusive: true })
  onTestFinished(() => void app.close())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const socket = net.connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('GET /api/nowplaying HTTP/1.1\r\nHost: x\r\n\r\n')
  await vi.waitFor(() => expect(inFlight.count).toBe(1))
  vi.advanceTimersByTime(sendTimeoutMs(document.body.length))
  expect(inFlight.count).toBe(0)
})

describe('a private station', () => {
  const unlike = /secret|"id":3,/

  test('is answered like an unknown one on every path, by cached and general routes', async ({
    sql,
    redisUrl
  }) => {
    const { base, add } = await serveApi(sql, redisUrl)
    await add(harbour(), secret())
    const wrong = { 'X-API-Key': '0123456789abcdef:00000000000000000000000000000000' }
    for (const method of ['GET', 'HEAD']) {
      for (const headers of [{}, general, wrong, { 'If-None-Match': '*' }, { 'Accept-Encoding': 'gzip' }]) {
        for (const query of ['', '?wait=1&since=1', '?wait=1&since=999', '?wait=x']) {
          const ask = (path: string) => askPlainly(base + path + query, { method, headers })
          const [byName, byId, unknown] = await Promise.all(
            [pathsOf('secret'), pathsOf(3), pathsOf('nobody')].map(paths => Promise.all(paths.map(ask)))
          )
          expect(byName?.map(comparable)).toEqual(unknown?.map(comparable))
          expect(byId?.map(comparable)).toEqual(unknown?.map(comparable))
          const polled = query === '?wait=x' ? 400 : 404
          expect(byName?.map(({ status }) => status)).toEqual([polled, polled, polled, 404, 404, 404])
        }
      }
    }
    expect(textOf(await askPlainly(`${base}/api/nowplaying`))).not.toMatch(unlike)
    expect(textOf(await askPlainly(`${base}/api/nowplaying`, { headers: wrong }))).not.toMatch(unlike)
  })

  test('is returned to a key with access, and must not be cached', async ({ sql, redisUrl }) => {
    const { base, add, makeKey } = await serveApi(sql, redisUrl)
    await add(harbour(), secret())
    const keyed = { 'X-API-Key': await makeKey() }
    for (const path of ['/api/nowplaying', ...documentPaths('secret')]) {
      const response = await askPlainly(base + path, { headers: { ...keyed, 'Accept-Encoding': 'gzip' } })
      expect([path, response.status, response.headers['cache-control']]).toEqual([
        path,
        200,
        'private, no-store'
      ])
      const again = await waitFor(
        async () => {
          const { etag } = (await askPlainly(base + path, { headers: keyed })).headers
          const next = await askPlainly(base + path, { headers: { ...keyed, 'If-None-Match': String(etag) } })
          return next.status === 304 && next
        },
        { deadlineMs: 5_000, what: 'a 304' }
      )
      expect(again.headers['cache-control']).toBe('private, no-store')
      const head = await askPlainly(base + path, { method: 'HEAD', headers: keyed })
      expect(Number(head.headers['content-length'])).toBeGreaterThan(10)
    }
    const { headers } = await askPlainly(`${base}/api/nowplaying/3`, { headers: keyed })
    expect(headers).toMatchObject({ 'x-cuewire-epoch': 'e1', 'x-cuewire-offset': '1' })
    const art = await askPlainly(`${base}/api/nowplaying/3/art`, { headers: keyed })
    expect([art.status, art.headers['cache-control']]).toEqual([302, 'private, no-store'])
    const all = await askPlainly(`${base}/api/nowplaying`, { headers: keyed })
    expect(parse(all).map((each: { station: { id: number } }) => each.station.id)).toEqual([1, 3])
    expect(all.headers.vary).toBe('Accept-Encoding, X-API-Key, Authorization, Cookie')
    const open = await askPlainly(`${base}/api/nowplaying`)
    expect(open.headers.vary).toBe('Accept-Encoding, X-API-Key, Authorization, Cookie')
    expect(open.headers['cache-control']).toBe('public, max-age=1')
  })

  test('is returned to a key in the query', async ({ sql, redisUrl }) => {
    const { base, add, makeKey } = await serveApi(sql, redisUrl)
    await add(harbour(), secret())
    const key = encodeURIComponent(await makeKey())
    for (const path of pathsOf('secret')) {
      const response = await askPlainly(`${base}${path}?api_key=${key}`)
      expect([path, response.status]).toEqual([path, path.includes('/art') ? 302 : 200])
      expect(response.headers['cache-control']).toBe('private, no-store')
      expect((await askPlainly(`${base}${path}?api_key=wrong`)).status).toBe(404)
    }
    expect(parse(await askPlainly(`${base}/api/nowplaying?api_key=${key}`))).toHaveLength(2)
    expect(parse(await askPlainly(`${base}/api/nowplaying?api_key=wrong`))).toHaveLength(1)
    // The parameter has no other effect.
    expect((await askPlainly(`${base}/api/station/1/queue?api_key=${key}`)).status).toBe(403)
  })

  test('is hidden as soon as it becomes private', async ({ sql, redisUrl }) => {
    const { base, redis, add } = await serveApi(sql, redisUrl)
    const state = harbour()
    await add(state)
    for (const path of ['/api/nowplaying', ...documentPaths(1)])
      for (const headers of [{}, { 'Accept-Encoding': 'br' }]) await askPlainly(base + path, { headers })
    const hidden = { ...afterSong(state), profile: { ...state.profile, isPublic: false } }
    await putState(redis, hidden)
    await waitFor(async () => (await askPlainly(`${base}/api/nowplaying/1`)).status === 404, {
      deadlineMs: 2_000,
      what: 'the station to be hidden'
    })
    for (const path of pathsOf('harbour_fm')) expect((await askPlainly(base + path)).status).toBe(404)
    expect(textOf(await askPlainly(`${base}/api/nowplaying`))).toBe('[]')
  })
})

test('with a list of origins, responses vary by origin, from cached and general routes', async ({
  sql,
  redisUrl
}) => {
  const { base, add } = await serveApi(sql, redisUrl, { corsOrigins: ['https://a.example'] })
  await add(harbour())
  for (const way of [{}, general]) {
    const from = async (path: string, origin: string) =>
      (await askPlainly(base + path, { headers: { ...way, Origin: origin } })).headers
    expect(await from('/api/nowplaying/1', 'https://a.example')).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      vary: 'Accept-Encoding, X-API-Key, Authorization, Origin'
    })
    const stranger = await from('/api/nowplaying', 'https://b.example')
    expect(stranger).not.toHaveProperty('access-control-allow-origin')
    expect(stranger['vary']).toBe('Accept-Encoding, X-API-Key, Authorization, Cookie, Origin')
  }
})

test('while the server drains, every response has Connection: close', async ({ sql, redisUrl }) => {
  let isDraining = false
  const { base, add } = await serveApi(sql, redisUrl, { isDraining: () => isDraining })
  await add(harbour(), silent)
  const { etag } = (await askPlainly(`${base}/api/nowplaying/2`)).headers
  isDraining = true
  const asked: [string, PlainOptions][] = [
    ['/api/nowplaying/1', {}],
    ['/api/nowplaying', { headers: { 'Accept-Encoding': 'br' } }],
    ['/api/nowplaying/1', { method: 'HEAD' }],
    ['/api/nowplaying/2', { headers: { 'If-None-Match': String(etag) } }],
    ['/api/nowplaying/nobody', {}],
    ['/api/nowplaying/1/art', {}],
    ['/api/status', { method: 'OPTIONS' }],
    ['/api/station/1/queue', {}]
  ]
  const statuses = []
  for (const [path, options] of asked) {
    const { status, headers } = await askPlainly(base + path, options)
    expect([path, headers.connection]).toEqual([path, 'close'])
    statuses.push(status)
  }
  expect(statuses).toEqual([200, 200, 200, 304, 404, 302, 204, 403])
})
