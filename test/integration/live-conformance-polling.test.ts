import { setTimeout as sleep } from 'node:timers/promises'

import { describe, expect } from 'vitest'

import { aPlay } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import type { NowPlaying } from '../support/live-frames.ts'
import type { Stage } from '../support/live-stage.ts'

// Polling (PROTOCOL.md, section 9) with `fetch` of Node.js.

async function get({ baseUrl }: Stage, path: string, headers: Record<string, string> = {}) {
  const startedAtMs = Date.now()
  const response = await fetch(baseUrl + path, { headers, signal: AbortSignal.timeout(20_000) })
  const text = await response.text()
  const np: NowPlaying = text === '' ? null : JSON.parse(text)
  return {
    status: response.status,
    np,
    text,
    tookMs: Date.now() - startedAtMs,
    position: [response.headers.get('x-cuewire-epoch'), response.headers.get('x-cuewire-offset')],
    etag: response.headers.get('etag') ?? '',
    cacheControl: response.headers.get('cache-control') ?? '',
    cors: response.headers.get('access-control-allow-origin')
  }
}

const pathsOf = ({ id, shortName }: { id: number; shortName: string }) => [
  `/api/nowplaying/${id}`,
  `/api/nowplaying/${shortName}`,
  `/api/station/${id}/nowplaying`,
  `/api/station/${shortName}/nowplaying`,
  `/api/nowplaying_static/${shortName}.json`,
  `/api/nowplaying_static/${id}.json`
]

test('each URL returns its position, and may be cached for a second', async ({ stage }) => {
  const station = await stage.put({ offset: 7 })
  for (const path of pathsOf(station)) {
    const response = await get(stage, path)
    expect(response).toMatchObject({ status: 200, position: ['e1', '7'], cors: '*' })
    expect(response.np.station.id).toBe(station.id)
    expect(Number(/max-age=(\d+)/.exec(response.cacheControl)?.[1])).toBeLessThanOrEqual(1)
  }
})

/** Polls for more than a second, always with the newest ETag. */
async function watchTags(stage: Stage, path: string) {
  const tags = new Set<string>()
  const elapsed = new Set<number>()
  const startedAtMs = Date.now()
  let unchanged = 0
  let last = ''
  while (Date.now() - startedAtMs < 1_300) {
    const response = await get(stage, path, last === '' ? {} : { 'If-None-Match': last })
    if (response.status === 304) {
      unchanged++
      expect(response.text).toBe('')
    } else {
      expect(response.status).toBe(200)
      expect(tags.has(response.etag)).toBe(false)
      tags.add(response.etag)
      elapsed.add(response.np.now_playing.elapsed)
      last = response.etag
    }
    await sleep(10)
  }
  return { tags, elapsed, unchanged }
}

test('the ETag of each URL changes with the clock', async ({ stage }) => {
  const station = await stage.put({ shown: aPlay({ startedAtMs: Date.now() - 60_000 }) })
  for (const { tags, elapsed, unchanged } of await Promise.all(
    pathsOf(station).map(path => watchTags(stage, path))
  )) {
    expect(unchanged).toBeGreaterThan(0)
    expect(elapsed.size).toBeGreaterThanOrEqual(2)
    expect(tags.size).toBe(elapsed.size)
  }
})

test('responses for a private station must not be cached', async ({ stage }) => {
  const station = await stage.put({ profile: { isPublic: false } })
  const { key } = await stage.makeKey()
  for (const path of pathsOf(station)) {
    const keyless = await get(stage, path)
    expect(keyless.status).toBe(404)
    const { status, cacheControl } = await get(stage, path, { 'X-API-Key': key })
    expect(status).toBe(200)
    expect(cacheControl).toMatch(/private/)
    expect(cacheControl).toMatch(/no-store/)
  }
})

describe('a long poll', () => {
  test('gets a response when something changes', async ({ stage }) => {
    const station = await stage.put()
    const waiting = get(stage, `/api/nowplaying/${station.shortName}?wait=10&since=1&epoch=e1`)
    const timedOut = await get(stage, `/api/nowplaying/${station.shortName}?wait=1&since=1&epoch=e1`)
    expect(timedOut).toMatchObject({ status: 304, text: '' })
    expect(timedOut.tookMs).toBeGreaterThanOrEqual(950)
    expect(timedOut.tookMs).toBeLessThan(2_000)
    const changedAtMs = Date.now()
    await station.play('Night Ferry')
    const response = await waiting
    expect(Date.now() - changedAtMs).toBeLessThan(1_000)
    expect(response).toMatchObject({ status: 200, position: ['e1', '2'] })
    expect(response.np.now_playing.song.title).toBe('Night Ferry')
  })

  test.for([
    ['an older offset', 'wait=10&since=2&epoch=e1'],
    ['another epoch', 'wait=10&since=3&epoch=e0'],
    ['a newer offset of another epoch', 'wait=10&since=99&epoch=e0'],
    ['no position', 'wait=10&since=0'],
    ['no wait', 'wait=0&since=2']
  ] as const)('gets a response immediately: %s', async ([, query], { stage }) => {
    const station = await stage.put({ offset: 3 })
    const response = await get(stage, `/api/nowplaying/${station.id}?${query}`)
    expect(response).toMatchObject({ status: 200, position: ['e1', '3'] })
    expect(response.tookMs).toBeLessThan(1_000)
  })

  test('with wait=0 and without a change returns 304 immediately', async ({ stage }) => {
    const station = await stage.put({ offset: 3 })
    const response = await get(stage, `/api/nowplaying/${station.id}?wait=0&since=3&epoch=e1`)
    expect(response.status).toBe(304)
    expect(response.tookMs).toBeLessThan(1_000)
  })

  test('gets a response when the epoch changes', async ({ stage }) => {
    const station = await stage.put({ offset: 3 })
    const waiting = get(stage, `/api/nowplaying/${station.id}?wait=10&since=3&epoch=e1`)
    await get(stage, `/api/nowplaying/${station.id}?wait=1&since=3&epoch=e1`)
    await station.change({ epoch: 'e2', offset: 1 })
    expect(await waiting).toMatchObject({ status: 200, position: ['e2', '1'] })
  })

  test('with a position from the future gets the current one immediately', async ({ stage }) => {
    const station = await stage.put({ offset: 3 })
    const response = await get(stage, `/api/nowplaying/${station.id}?wait=20&since=${2 ** 53 - 1}&epoch=e1`)
    expect(response).toMatchObject({ status: 200, position: ['e1', '3'] })
    expect(response.tookMs).toBeLessThan(2_000)
  })

  test.for([
    ['wait', 'wait=61&since=1'],
    ['wait', 'wait=-1&since=1'],
    ['wait', 'wait=soon&since=1'],
    ['since', 'wait=1&since=-1'],
    ['since', 'wait=1&since=x']
  ] as const)('with an invalid %s is refused with its name: %s', async ([name, query], { stage }) => {
    const station = await stage.put()
    const { status, text } = await get(stage, `/api/nowplaying/${station.id}?${query}`)
    expect(status).toBe(400)
    expect(JSON.parse(text).message).toMatch(new RegExp(`\\b${name}\\b`))
  })

  test('of a private or unknown station returns 404', async ({ stage }) => {
    const hidden = await stage.put({ profile: { isPublic: false } })
    const { shortName } = stage.newName()
    for (const name of [hidden.shortName, shortName]) {
      const { status, tookMs } = await get(stage, `/api/nowplaying/${name}?wait=10&since=1`)
      expect(status).toBe(404)
      expect(tookMs).toBeLessThan(1_000)
    }
  })

  test.for(['nowplaying/ID', 'station/ID/nowplaying', 'nowplaying_static/ID.json'])(
    'of /api/%s does not return a station that became private meanwhile',
    async (pattern, { stage }) => {
      const station = await stage.put()
      const path = `/api/${pattern.replace('ID', String(station.id))}`
      const waiting = get(stage, `${path}?wait=3&since=1&epoch=e1`)
      // The long poll above is waiting once this request is answered.
      await get(stage, `${path}?wait=0&since=1&epoch=e1`)
      await station.change({ profile: { ...station.state().profile, isPublic: false } })
      const response = await waiting
      expect([304, 404]).toContain(response.status)
      expect(response.position).not.toEqual(['e1', '2'])
    }
  )

  test('ends when its key is revoked', async ({ stage }) => {
    const hidden = await stage.put({ profile: { isPublic: false } })
    const { key, revoke } = await stage.makeKey()
    const headers = { 'X-API-Key': key }
    const path = `/api/nowplaying/${hidden.id}`
    const good = get(stage, `${path}?wait=5&since=1&epoch=e1`, headers)
    await get(stage, `${path}?wait=1&since=1&epoch=e1`, headers)
    await hidden.play('Night Ferry')
    expect(await good).toMatchObject({ status: 200, position: ['e1', '2'] })
    const revoked = get(stage, `${path}?wait=3&since=2&epoch=e1`, headers)
    await get(stage, `${path}?wait=1&since=2&epoch=e1`, headers)
    await revoke()
    await hidden.play('Secret Ferry')
    const response = await revoked
    expect([304, 401, 403, 404]).toContain(response.status)
    expect(response.text).not.toContain('Secret')
  })
})
