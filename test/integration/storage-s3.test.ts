import { createServer } from 'node:http'
import { inspect } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { S3Settings } from '../../src/library/storage/location.ts'
import { assertS3Access, measureS3 } from '../../src/library/storage/s3.ts'
import { runStorageTaskHere, runStorageTask } from '../../src/library/storage/storage-task.ts'
import { findFreePort } from '../../src/platform/process/ports.ts'
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

test('only objects below a path are measured', async () => {
  expect(await measureS3(server.settings, 'music', signal)).toEqual({
    usedBytes: 1_021n,
    files: 3,
    freeBytes: null,
    skipped: 0
  })
  expect(await measureS3(server.settings, 'nothing', signal)).toMatchObject({ usedBytes: 0n, files: 0 })
})

test('all pages of a listing are measured', async () => {
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
  expect(await runStorageTaskHere({ work: 'measure', location }, signal)).toMatchObject({ usedBytes: 1_021n })
  await expect(runStorageTaskHere({ work: 'check', location }, signal)).resolves.toBeNull()
})

describe('a fault has one reason and contains no secret:', () => {
  const secret = 'a-very-secret-secret'
  test.for<[string, Partial<S3Settings>, string]>([
    ['another secret', { credentialSecret: secret }, 'denied'],
    ['an unknown key', { credentialKey: 'stranger', credentialSecret: secret }, 'denied'],
    ['a missing bucket', { bucket: 'missing' }, 'no_bucket'],
    ['an invalid bucket name', { bucket: '../x', credentialSecret: secret }, 'unusable'],
    ['an invalid endpoint', { endpoint: 'http://', credentialSecret: secret }, 'unusable'],
    ['a key with a line break', { credentialKey: 'a\nb', credentialSecret: secret }, 'unusable']
  ])('%s', async ([, change, reason]) => {
    const settings = { ...server.settings, ...change }
    const uses = [
      async () => assertS3Access(settings, signal),
      async () => measureS3(settings, 'music', signal)
    ]
    for (const use of uses) {
      const fault: unknown = await use().catch((error: unknown) => error)
      expect(fault).toMatchObject({ reason })
      expect(inspect(fault, { depth: 9, showHidden: true })).not.toContain(secret)
    }
  })
})

test('a server that is down is unreachable', async () => {
  const settings = { ...server.settings, endpoint: `http://127.0.0.1:${await findFreePort()}` }
  await expect(assertS3Access(settings, signal)).rejects.toMatchObject({
    reason: 'unreachable',
    message: 'The server cannot be reached (ECONNREFUSED).'
  })
})

test('a server that does not respond times out, and the connection is closed', async () => {
  await using silent = await startSilentServer()
  const settings = { ...server.settings, endpoint: `http://127.0.0.1:${silent.port}` }
  const stop = new AbortController()
  const checking = assertS3Access(settings, stop.signal)
  await waitFor(() => silent.open() > 0, { deadlineMs: 5_000, what: 'a connection' })
  stop.abort(new DOMException('late', 'TimeoutError'))
  await expect(checking).rejects.toMatchObject({ reason: 'timed_out' })
  await waitFor(() => silent.open() === 0, { deadlineMs: 5_000, what: 'the end of the connection' })
  await expect(measureS3(settings, '', AbortSignal.timeout(50))).rejects.toMatchObject({
    reason: 'timed_out'
  })
  await expect(measureS3(settings, '', AbortSignal.abort(new Error('shutdown')))).rejects.toThrow('shutdown')
})

test('a task in a thread ends with the reason of its signal', async () => {
  await using silent = await startSilentServer()
  const endpoint = `http://127.0.0.1:${silent.port}`
  const location = { adapter: 's3', path: '', ...server.settings, endpoint } as const
  const run = (stop: AbortSignal) => runStorageTask({ work: 'check', location, timeoutMs: 60_000 }, stop)
  await expect(run(AbortSignal.timeout(300))).rejects.toMatchObject({ reason: 'timed_out' })
  const stop = new AbortController()
  const checking = run(stop.signal)
  stop.abort(new Error('shutdown'))
  await expect(checking).rejects.toThrow('shutdown')
})

describe('an invalid listing is rejected:', () => {
  const page = (inner: string) => `<?xml version="1.0"?><ListBucketResult>${inner}</ListBucketResult>`
  test.for([
    [
      'a page that repeats',
      200,
      page('<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>')
    ],
    ['a page without a continuation token', 200, page('<IsTruncated>true</IsTruncated>')],
    ['a size that is not a number', 200, page('<Contents><Key>a</Key><Size>much</Size></Contents>')],
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
    await expect(measuring).rejects.toMatchObject({ reason: 'unusable' })
    await new Promise(resolve => http.close(resolve))
  })
})
