import { createServer } from 'node:http'
import { inspect } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { freePort } from '../../src/embedded/free-port.ts'
import type { S3Settings } from '../../src/storage/location.ts'
import { checkS3, measureS3 } from '../../src/storage/s3.ts'
import { checkLocation, measureLocation } from '../../src/storage/size.ts'
import { startS3, type S3Server } from '../support/s3.ts'
import { startSilentServer } from '../support/silent-server.ts'
import { waitFor } from '../support/wait.ts'

const { signal } = new AbortController()
let server: S3Server

beforeAll(async () => {
  server = await startS3()
  const pages = Array.from({ length: 1_234 }, (_, at): [string, number] => [
    `many/${at % 7}/${at}.mp3`,
    at % 10
  ])
  await server.put({
    'music/one.mp3': 1_001,
    'music/album one/zwei ä+&.mp3': 20,
    'music/empty.mp3': 0,
    'music/folder/': 0,
    'music2/other.mp3': 5_000,
    music: 300
  })
  await server.putFiles(Object.fromEntries(pages))
})

afterAll(async () => server[Symbol.asyncDispose]())

test('what is below a path is counted, nested, and nothing beside it', async () => {
  expect(await measureS3(server.settings, 'music', signal)).toEqual({
    usedBytes: 1_021n,
    files: 3,
    freeBytes: null,
    skipped: 0
  })
  expect(await measureS3(server.settings, 'nothing', signal)).toMatchObject({ usedBytes: 0n, files: 0 })
})

test('a listing of several pages is counted whole', async () => {
  const all = 1_234
  const bytes = BigInt(Array.from({ length: all }, (_, at) => at % 10).reduce((sum, size) => sum + size))
  expect(await measureS3(server.settings, 'many', signal)).toMatchObject({ usedBytes: bytes, files: all })
  expect(await measureS3(server.settings, '', signal)).toMatchObject({
    usedBytes: bytes + 6_321n,
    files: all + 5
  })
})

test('a location is measured and checked by its adapter', async () => {
  const location = { adapter: 's3', path: 'music', ...server.settings } as const
  expect(await measureLocation(location, signal)).toMatchObject({ usedBytes: 1_021n })
  await expect(checkLocation(location, signal)).resolves.toBeUndefined()
})

describe('what is wrong is told in one word, and no secret with it:', () => {
  const secret = 'a-very-secret-secret'
  test.for<[string, Partial<S3Settings>, string]>([
    ['another secret', { credentialSecret: secret }, 'denied'],
    ['an unknown key', { credentialKey: 'stranger', credentialSecret: secret }, 'denied'],
    ['a bucket that is not there', { bucket: 'missing' }, 'no_bucket'],
    ['a name that no bucket can have', { bucket: '../x', credentialSecret: secret }, 'unusable'],
    ['an endpoint that is none', { endpoint: 'http://', credentialSecret: secret }, 'unusable'],
    ['a key that cannot be sent', { credentialKey: 'a\nb', credentialSecret: secret }, 'unusable']
  ])('%s', async ([, change, word]) => {
    const settings = { ...server.settings, ...change }
    const uses = [async () => checkS3(settings, signal), async () => measureS3(settings, 'music', signal)]
    for (const use of uses) {
      const fault: unknown = await use().catch((error: unknown) => error)
      expect(fault).toMatchObject({ word })
      expect(inspect(fault, { depth: 9, showHidden: true })).not.toContain(secret)
    }
  })
})

test('a server that is away cannot be reached', async () => {
  const settings = { ...server.settings, endpoint: `http://127.0.0.1:${await freePort()}` }
  await expect(checkS3(settings, signal)).rejects.toMatchObject({
    word: 'unreachable',
    message: 'The server cannot be reached (ECONNREFUSED).'
  })
})

test('a server that never answers is left when the time is up, and the connection closed', async () => {
  await using silent = await startSilentServer()
  const settings = { ...server.settings, endpoint: `http://127.0.0.1:${silent.port}` }
  const stop = new AbortController()
  const checking = checkS3(settings, stop.signal)
  await waitFor(() => silent.open() > 0, { deadlineMs: 5_000, what: 'a connection' })
  stop.abort(new DOMException('late', 'TimeoutError'))
  await expect(checking).rejects.toMatchObject({ word: 'timed_out' })
  await waitFor(() => silent.open() === 0, { deadlineMs: 5_000, what: 'the end of the connection' })
  await expect(measureS3(settings, '', AbortSignal.timeout(50))).rejects.toMatchObject({ word: 'timed_out' })
  await expect(measureS3(settings, '', AbortSignal.abort(new Error('the end')))).rejects.toThrow('the end')
})

describe('what is no listing is not taken for one:', () => {
  const page = (inner: string) => `<?xml version="1.0"?><ListBucketResult>${inner}</ListBucketResult>`
  test.for([
    [
      'a page that comes again and again',
      200,
      page('<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>')
    ],
    ['a page without a way on', 200, page('<IsTruncated>true</IsTruncated>')],
    ['a size that is no number', 200, page('<Contents><Key>a</Key><Size>much</Size></Contents>')],
    ['a web page', 200, '<html><body>It works!</body></html>'],
    ['nothing', 200, ''],
    ['not found', 404, 'no such page'],
    ['an error', 500, '<Error><Code>InternalError</Code></Error>']
  ] as const)('%s', async ([, status, body]) => {
    const http = createServer((_, response) => void response.writeHead(status).end(body))
    await new Promise<void>(resolve => http.listen(0, '127.0.0.1', resolve))
    const address = http.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const settings = { ...server.settings, endpoint: `http://127.0.0.1:${port}` }
    const measuring = measureS3(settings, '', signal)
    await expect(measuring).rejects.toMatchObject({ word: 'unusable' })
    await new Promise(resolve => http.close(resolve))
  })
})
