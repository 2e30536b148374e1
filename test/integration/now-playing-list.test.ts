import { expect } from 'vitest'

import { serveApi } from '../support/api-server.ts'
import { aPlay, aStation } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { askPlainly, type PlainResponse } from '../support/plain-http.ts'
import { putState } from '../support/put-state.ts'
import { waitFor } from '../support/wait.ts'

const aSilent = (stationId: number, isPublic = true) =>
  aStation({ stationId, shown: null, profile: { shortName: `s${stationId}`, isPublic } })

const parse = ({ body }: PlainResponse) => JSON.parse(body.toString())

type Document = { station: { id: number } }
const idsOf = (documents: Document[]) => documents.map(({ station }) => station.id)

test('stations are returned in the order that was asked for, each once, without those that are not visible', async ({
  sql,
  redisUrl
}) => {
  const { base, add } = await serveApi(sql, redisUrl)
  for (const state of [aSilent(1), aSilent(2, false), aSilent(3)]) await add(state)
  const ask = (query: string) => askPlainly(`${base}/api/nowplaying?${query}`)
  const found = async (query: string) => idsOf(parse(await ask(query)))
  expect(await found('stations=s3,1,3')).toEqual([3, 1])
  expect(await found('stations=2,s2,99,nobody,%201%20,')).toEqual([1])
  expect(await found('stations=nobody')).toEqual([])
  expect(await found('stations=')).toEqual([])
  const response = await ask('stations=1')
  expect(response.headers['cache-control']).toBe('public, max-age=1')
  const again = await askPlainly(`${base}/api/nowplaying?stations=1`, {
    headers: { 'If-None-Match': String(response.headers['etag']) }
  })
  expect(again.status).toBe(304)
})

test('a document of a selection has the elapsed time of the second in which it is sent', async ({
  sql,
  redisUrl
}) => {
  const { base, add } = await serveApi(sql, redisUrl)
  await add(aStation({ shown: aPlay({ startedAtMs: Date.now() - 60_000 }) }))
  const [document] = parse(await askPlainly(`${base}/api/nowplaying?stations=harbour_fm`))
  expect(document.now_playing.elapsed).toBeGreaterThanOrEqual(60)
  const { now_playing: plain } = parse(await askPlainly(`${base}/api/nowplaying/1`))
  expect(plain.elapsed - document.now_playing.elapsed).toBeLessThanOrEqual(1)
})

test('pages have the envelope and the header of other lists', async ({ sql, redisUrl }) => {
  const { base, add } = await serveApi(sql, redisUrl)
  for (const id of [5, 4, 3, 2, 1]) await add(aSilent(id, id !== 4))
  const ask = (query: string) => askPlainly(`${base}/api/nowplaying?${query}`)
  const response = await ask('page=2&per_page=2')
  const { rows, ...envelope } = parse(response)
  expect(idsOf(rows)).toEqual([3, 5])
  expect(envelope).toMatchObject({ page: 2, per_page: 2, total: 4, total_pages: 2 })
  expect(envelope.links.first).toContain('/api/nowplaying?page=1&per_page=2')
  expect(response.headers['x-total-count']).toBe('4')
  expect(parse(await ask('rowCount=0')).rows).toHaveLength(4)
  expect(parse(await ask('stations=5,1,2&current=2&rowCount=2')).rows).toHaveLength(1)
  expect(parse(await ask('page=9')).rows).toEqual([])
  expect((await ask('page=1')).headers['etag']).not.toBe((await ask('page=2')).headers['etag'])
})

test.for([
  ['stations', `stations=${Array.from({ length: 501 }, (_, index) => index).join()}`, 'at most 500'],
  ['page', 'page=0', ''],
  ['per_page', 'per_page=abc', ''],
  ['rowCount', 'rowCount=1.5', '']
] as const)('an invalid %s is refused and named', async ([field, query, part], { sql, redisUrl }) => {
  const { base } = await serveApi(sql, redisUrl)
  const response = await askPlainly(`${base}/api/nowplaying?${query}`)
  expect(response.status).toBe(400)
  expect(parse(response).message).toContain(field)
  expect(parse(response).message).toContain(part)
})

test('the list of more than a thousand stations is streamed, and other requests are answered meanwhile', async ({
  sql,
  redisUrl
}) => {
  const count = 1_200
  const { base, add, redis, feed } = await serveApi(sql, redisUrl)
  await add(aSilent(1))
  await Promise.all(
    Array.from({ length: count - 1 }, async (_, index) => putState(redis, aSilent(index + 2)))
  )
  await waitFor(() => feed.all().length === count, { deadlineMs: 10_000, what: 'all stations' })
  const [list, one] = await Promise.all([
    askPlainly(`${base}/api/nowplaying`, { headers: { 'Accept-Encoding': 'br' } }),
    askPlainly(`${base}/api/nowplaying/7`)
  ])
  expect(idsOf(parse(list))).toEqual(Array.from({ length: count }, (_, index) => index + 1))
  expect(Number(list.headers['content-length'])).toBe(list.body.length)
  expect(list.headers['content-encoding']).toBeUndefined()
  expect(one.status).toBe(200)
  const headers = { 'If-None-Match': String(list.headers['etag']) }
  expect((await askPlainly(`${base}/api/nowplaying`, { headers })).status).toBe(304)
  const head = await askPlainly(`${base}/api/nowplaying`, { method: 'HEAD' })
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([
    200,
    list.headers['content-length'],
    0
  ])
  const all = parse(await askPlainly(`${base}/api/nowplaying?per_page=500`))
  expect([all.rows.length, all.total]).toEqual([500, count])
  const tooMany = await askPlainly(`${base}/api/nowplaying?per_page=0`)
  expect(parse(tooMany).message).toContain('per_page')
})
