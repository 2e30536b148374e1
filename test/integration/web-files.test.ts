import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'

test('a file with a stable name has all encodings, is cached for minutes and revalidated by its entity tag', async ({
  stage
}) => {
  const plain = await askPlainly(`${stage.baseUrl}/client.js`)
  expect(plain.status).toBe(200)
  expect(plain.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=300, stale-while-revalidate=86400',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'Accept-Encoding'
  })
  expect(plain.headers).not.toHaveProperty('set-cookie')
  expect(plain.body.toString()).toContain('followStation')
  const br = await askPlainly(`${stage.baseUrl}/client.js`, { headers: { 'accept-encoding': 'gzip, br' } })
  expect(br.headers).toMatchObject({ 'content-encoding': 'br', etag: plain.headers['etag'] })
  expect(brotliDecompressSync(br.body)).toEqual(plain.body)
  const gzip = await askPlainly(`${stage.baseUrl}/client.js`, { headers: { 'accept-encoding': 'gzip' } })
  expect(gunzipSync(gzip.body)).toEqual(plain.body)
  const again = await askPlainly(`${stage.baseUrl}/client.js`, {
    headers: { 'if-none-match': plain.headers['etag'] ?? '' }
  })
  expect([again.status, again.body.length]).toEqual([304, 0])
})

test('a part of the dashboard is cached forever, and a part of another version is not found', async ({
  stage
}) => {
  const page = (await askPlainly(`${stage.baseUrl}/`)).body.toString()
  const [entry = ''] = /assets\/dashboard-[A-Z2-7]{8}\.js/.exec(page) ?? []
  const script = (await askPlainly(`${stage.baseUrl}/${entry}`)).body.toString()
  const [part = ''] = /part-now-page-[A-Z2-7]{8}\.js/.exec(script) ?? []
  const { status, headers } = await askPlainly(`${stage.baseUrl}/assets/${part}`)
  expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable'])
  expect((await askPlainly(`${stage.baseUrl}/assets/part-now-page-AAAAAAAA.js`)).status).toBe(404)
})

test('the type declarations of the client are served', async ({ stage }) => {
  const { status, body } = await askPlainly(`${stage.baseUrl}/client.d.ts`)
  expect(status).toBe(200)
  expect(body.toString()).toContain('export declare function followStation(options: FollowOptions): Follower')
})

test.for(['nothing.js', 'client', '..%2fpackage.json', 'client.js%00', '__proto__'])(
  'no other file is served: %s',
  async (name, { stage }) => {
    expect((await askPlainly(`${stage.baseUrl}/assets/${name}`)).status).toBe(404)
  }
)
