import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'

import { expect, onTestFinished, test, vi } from 'vitest'

import { assertS3Access } from '../../src/library/storage/s3.ts'
import { FetchFault, guardedFetch } from '../../src/platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../src/platform/outbound/networks.ts'
import { createCertificate } from '../support/certificates.ts'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { startS3 } from '../support/s3.ts'
import { startWebServer } from '../support/web-server.ts'

const allowed = toNetworkList(['127.0.0.0/8'])

/** An address of this machine that is not one of those that are always reached directly. */
const away = '127.0.0.2'

async function withProxies(options?: Parameters<typeof startConnectProxy>[0]) {
  const proxy = await startConnectProxy(options)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) {
    vi.stubEnv(name, proxy.url)
    vi.stubEnv(name.toLowerCase(), '')
  }
  return proxy
}

const faultOf = (url: string, networks = allowed) =>
  guardedFetch(url, { allowed: networks }).then(
    () => null,
    (error: unknown) => (error instanceof FetchFault ? { word: error.word, message: error.message } : error)
  )

test('requests go through a tunnel of the proxy, with its credentials', async () => {
  const proxy = await withProxies()
  await using server = await startWebServer()
  server.respondWith('through')
  const { status, body } = await guardedFetch(`http://${away}:${server.port}/hook?a=1`, {
    allowed,
    method: 'POST',
    body: 'news'
  })
  expect([status, body.toString()]).toEqual([200, 'through'])
  expect(server.asked).toMatchObject([
    { method: 'POST', path: '/hook?a=1', body: 'news', headers: { host: `${away}:${server.port}` } }
  ])
  expect(proxy.asked).toEqual([
    {
      target: `${away}:${server.port}`,
      credentials: `Basic ${Buffer.from('radio:se@cret').toString('base64')}`
    }
  ])
})

test('the proxy never gets an address that may not be reached, nor a name', async () => {
  const proxy = await withProxies()
  const none = toNetworkList([])
  for (const url of [
    'http://10.0.0.1/',
    'http://localtest:80/',
    'http://169.254.169.254/latest',
    `http://${away}:8080/`
  ])
    expect(await faultOf(url, none)).toMatchObject({ word: expect.stringMatching(/^(blocked|dns)$/) })
  expect(proxy.asked).toEqual([])
})

test('the name of a https target is checked through the tunnel', async () => {
  const proxy = await withProxies()
  const { cert, key } = await createCertificate([`IP:${away}`])
  const server = createServer({ cert: await readFile(cert), key: await readFile(key) }, (_, response) =>
    response.end()
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  expect(await faultOf(`https://${away}:${port}/`)).toMatchObject({ word: 'tls' })
  expect(proxy.asked.map(({ target }) => target)).toEqual([`${away}:${port}`])
})

test('a proxy that refuses is named, and its answer is not that of the target', async () => {
  await withProxies({ status: 403 })
  expect(await faultOf(`http://${away}:8080/`)).toEqual({
    word: 'refused',
    message: 'The proxy refuses the connection (403).'
  })
  vi.stubEnv('HTTP_PROXY', 'http://127.0.0.1:1')
  expect(await faultOf(`http://${away}:8080/`)).toEqual({
    word: 'refused',
    message: 'The proxy does not answer.'
  })
})

test('NO_PROXY and this machine are reached directly', async () => {
  const proxy = await withProxies()
  await using server = await startWebServer()
  expect((await guardedFetch(server.url, { allowed })).status).toBe(200)
  vi.stubEnv('NO_PROXY', '127.0.0.0/8')
  expect(await faultOf(`http://${away}:1080/`)).toMatchObject({ word: 'refused' })
  expect(proxy.asked).toEqual([])
})

test('S3 is reached through the proxy', async () => {
  const proxy = await withProxies()
  await using s3 = await startS3()
  const endpoint = s3.settings.endpoint.replace('127.0.0.1', away)
  await assertS3Access({ ...s3.settings, endpoint }, AbortSignal.timeout(10_000))
  expect(proxy.asked.map(({ target }) => target)).toContain(new URL(endpoint).host)
})
