import { Socket } from 'node:net'

import { beforeEach, describe, expect, test, vi } from 'vitest'

import {
  findForeignTargetProblem,
  findTargetProblem,
  dnsLookupLimit,
  resolveHostAddresses
} from '../../src/platform/outbound/guard.ts'
import { guardedFetch } from '../../src/platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../src/platform/outbound/networks.ts'
import { startScriptedServer } from '../support/scripted-server.ts'
import { startWebServer } from '../support/web-server.ts'

interface Address {
  readonly address: string
  readonly family: number
}

// Replaces the DNS lookup of the system. The connections are real.
const asked = vi.hoisted(() => vi.fn<(name: string) => Promise<Address[]>>())
vi.mock('node:dns/promises', () => ({ lookup: asked }))

const loopback = toNetworkList(['127.0.0.0/8'])
const none = toNetworkList([])
const at = (...addresses: string[]): Address[] =>
  addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))

/** The addresses of names: each answer is used once, the last one repeatedly. */
function respondWith(...responses: string[][]) {
  for (const addresses of responses.slice(0, -1)) asked.mockImplementationOnce(async () => at(...addresses))
  asked.mockImplementation(async () => at(...(responses.at(-1) ?? [])))
}

const connect = vi.spyOn(Socket.prototype, 'connect')
beforeEach(() => {
  asked.mockReset()
  connect.mockClear()
})

const publicHost = '93.184.215.14'
const publicHost6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

/** The trick, the URL, the name that is resolved for it, and its addresses. */
const refused: [trick: string, url: string, name: string, addresses: string[]][] = [
  ['this machine', 'http://localhost/', 'localhost', ['127.0.0.1']],
  ['this machine by IPv6', 'http://localhost/', 'localhost', ['::1']],
  ['a trailing dot', 'http://localhost./', 'localhost.', ['127.0.0.1']],
  ['uppercase letters', 'http://LOCALHOST/', 'localhost', ['127.0.0.1']],
  ['a subdomain of localhost', 'http://cuewire.localhost/', 'cuewire.localhost', ['127.0.0.1']],
  ['percent-encoding', 'http://loc%61lhost/', 'localhost', ['127.0.0.1']],
  ['full-width letters', 'http://ｌｏｃａｌｈｏｓｔ/', 'localhost', ['127.0.0.1']],
  ['a soft hyphen', 'http://local\u00ADhost/', 'localhost', ['127.0.0.1']],
  ['a public name for this machine', 'https://localtest.example/', 'localtest.example', ['127.0.0.1']],
  ['the address in the name', 'http://127.0.0.1.ip.example/', '127.0.0.1.ip.example', ['127.0.0.1']],
  ['another container', 'http://redis:6379/', 'redis', ['172.18.0.3']],
  ['the host of the container', 'http://host.example/', 'host.example', ['192.168.65.254']],
  ['the metadata service by its name', 'http://metadata.example/', 'metadata.example', ['169.254.169.254']],
  ['an internationalized domain name', 'http://hörer.example/', 'xn--hrer-5qa.example', ['10.0.0.1']],
  ['the unspecified address', 'http://radio.example/', 'radio.example', ['0.0.0.0']],
  ['the unspecified address of IPv6', 'http://radio.example/', 'radio.example', ['::']],
  ['carrier-grade NAT', 'http://radio.example/', 'radio.example', ['100.127.0.1']],
  ['an IPv4-mapped address', 'http://radio.example/', 'radio.example', ['::ffff:169.254.169.254']],
  ['NAT64', 'http://radio.example/', 'radio.example', ['64:ff9b::a00:1']],
  ['a unique local address', 'http://radio.example/', 'radio.example', ['fd00::1']],
  ['link-local with a zone', 'http://radio.example/', 'radio.example', ['fe80::1%eth0']],
  ['an invalid address', 'http://radio.example/', 'radio.example', ['localhost']],
  ['public, then private', 'http://radio.example/', 'radio.example', [publicHost, '10.0.0.1']],
  ['private, then public', 'http://radio.example/', 'radio.example', ['10.0.0.1', publicHost]],
  ['public IPv4, private IPv6', 'http://radio.example/', 'radio.example', [publicHost, 'fd00::1']],
  ['public IPv6, private IPv4', 'http://radio.example/', 'radio.example', [publicHost6, '127.0.0.1']],
  [
    'the last of many',
    'http://radio.example/',
    'radio.example',
    [...Array<string>(40).fill(publicHost), '192.168.0.1']
  ]
]

describe('a name is refused', () => {
  test.for(refused)('%s: %s', async ([, url, name, addresses]) => {
    respondWith(addresses)
    expect(await findTargetProblem(url, none)).toEqual({
      code: 'unsafe_url',
      sentence: 'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    })
    await expect(guardedFetch(url, { allowed: none })).rejects.toMatchObject({ word: 'blocked', status: 0 })
    // Once when it is stored, and once for the request.
    expect(asked.mock.calls.map(([each]) => each)).toEqual([name, name])
    expect(connect).not.toHaveBeenCalled()
  })

  test('that is public when it is stored and private when it is requested', async () => {
    respondWith([publicHost], ['127.0.0.1'])
    await using server = await startWebServer()
    const url = `http://radio.example:${server.port}/`
    expect(await findTargetProblem(url, none)).toBeNull()
    await expect(guardedFetch(url, { allowed: none })).rejects.toMatchObject({ word: 'blocked' })
    expect(asked).toHaveBeenCalledTimes(2)
    expect(connect).not.toHaveBeenCalled()
    expect(server.asked).toEqual([])
  })

  test('that is private at the second request', async () => {
    respondWith(['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['127.0.0.1'])
    await using server = await startWebServer()
    const send = () => guardedFetch(`http://radio.example:${server.port}/`, { allowed: loopback })
    expect((await send()).status).toBe(200)
    await expect(send()).rejects.toMatchObject({ word: 'blocked' })
    expect((await send()).status).toBe(200)
    expect([asked.mock.calls.length, server.asked.length]).toEqual([3, 2])
  })
})

describe('a name passes when it is stored', () => {
  test.for<[why: string, response: string[]]>([
    ['with a public address', [publicHost]],
    ['with public addresses of both kinds', [publicHost6, publicHost]],
    ['with a public address by NAT64', ['64:ff9b::808:808']],
    ['without an address', []]
  ])('%s', async ([, addresses]) => {
    respondWith(addresses)
    expect(await findTargetProblem('http://radio.example/', none)).toBeNull()
  })

  test('that does not resolve', async () => {
    asked.mockRejectedValue(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }))
    expect(await findTargetProblem('http://radio.example/', none)).toBeNull()
  })

  test('with a private address that is allowed', async () => {
    respondWith(['10.1.2.3', publicHost])
    expect(await findTargetProblem('http://radio.example/', toNetworkList(['10.1.0.0/16']))).toBeNull()
  })
})

describe('a URL that another program requests', () => {
  const unresolved = { code: 'unsafe_url', sentence: 'must have a name that can be looked up.' }
  const fail = (code: string) => asked.mockRejectedValue(Object.assign(new Error('getaddrinfo'), { code }))

  test('is refused if its name does not resolve', async () => {
    fail('ENOTFOUND')
    expect(await findForeignTargetProblem('http://nowhere.example/', none)).toEqual(unresolved)
    fail('EAI_AGAIN')
    expect(await findForeignTargetProblem('http://nowhere.example/', none)).toEqual(unresolved)
    respondWith([])
    expect(await findForeignTargetProblem('http://nowhere.example/', none)).toEqual(unresolved)
  })

  test('is refused if the name server does not answer within a second', async () => {
    let resolve: (addresses: Address[]) => void = () => {}
    asked.mockReturnValue(new Promise(done => (resolve = done)))
    expect(await findForeignTargetProblem('http://silent.example/', none)).toEqual(unresolved)
    resolve([])
  })

  test('counts with its last addresses while the name server does not answer', async () => {
    respondWith([publicHost])
    expect(await findForeignTargetProblem('http://songs.example/a.mp3', none)).toBeNull()
    fail('EAI_AGAIN')
    expect(await findForeignTargetProblem('http://songs.example/b.mp3', none)).toBeNull()
    fail('ENOTFOUND')
    expect(await findForeignTargetProblem('http://songs.example/b.mp3', none)).toEqual(unresolved)
    respondWith(['10.0.0.1'])
    expect(await findForeignTargetProblem('http://songs.example/b.mp3', none)).toMatchObject({
      code: 'unsafe_url'
    })
    fail('EAI_AGAIN')
    expect(await findForeignTargetProblem('http://songs.example/b.mp3', none)).toMatchObject({
      code: 'unsafe_url'
    })
  })
})

describe('the connection is made', () => {
  test('to the address of the one lookup, with http', async () => {
    await using server = await startWebServer()
    respondWith(['127.0.0.1'], ['127.0.0.2'])
    const { status } = await guardedFetch(`http://radio.example:${server.port}/`, { allowed: loopback })
    expect(status).toBe(200)
    expect(server.asked[0]?.headers.host).toBe(`radio.example:${server.port}`)
    expect(asked.mock.calls).toEqual([['radio.example', { all: true }]])
  })

  test('to the address of the one lookup, with https', async () => {
    const greetings: Buffer[] = []
    await using server = await startScriptedServer((socket, bytes) => {
      greetings.push(bytes)
      socket.end('this is no TLS')
    })
    respondWith(['127.0.0.1'], ['127.0.0.2'])
    const sent = guardedFetch(`https://radio.example:${server.port}/`, { allowed: loopback })
    await expect(sent).rejects.toMatchObject({ word: 'tls' })
    expect(greetings.map(greeting => greeting.includes('radio.example'))).toEqual([true])
    expect(asked.mock.calls).toEqual([['radio.example', { all: true }]])
  })

  test('to no address of a second lookup', async () => {
    await using server = await startWebServer()
    respondWith(['127.0.0.77'], ['127.0.0.1'])
    const sent = guardedFetch(`http://radio.example:${server.port}/`, { allowed: loopback })
    await expect(sent).rejects.toMatchObject({ word: 'refused' })
    expect([asked.mock.calls.length, server.asked]).toEqual([1, []])
  })

  test('to another address of the same lookup if one is unreachable', async () => {
    await using server = await startWebServer()
    respondWith(['127.0.0.77', '127.0.0.1'])
    const { status } = await guardedFetch(`http://radio.example:${server.port}/`, { allowed: loopback })
    expect([status, server.asked.length]).toEqual([200, 1])
  })

  test('to nothing if the name has no address', async () => {
    respondWith([])
    await expect(guardedFetch('http://radio.example/', { allowed: none })).rejects.toMatchObject({
      word: 'dns',
      message: 'The name of the server is not known.'
    })
    expect(connect).not.toHaveBeenCalled()
  })
})

test('a silent name server does not delay requests beyond their timeout, and queued lookups are dropped', async () => {
  const open: ((addresses: Address[]) => void)[] = []
  asked.mockImplementation(() => new Promise(resolve => open.push(resolve)))
  const ask = (name: string) =>
    guardedFetch(`http://${name}.example/`, { allowed: none, timeoutMs: 100 }).catch(
      (error: unknown) => error
    )
  // The last one exceeds the concurrency limit and is never started.
  const names = Array.from({ length: dnsLookupLimit + 1 }, (_, index) => `silent-${index}`)
  const faults = await Promise.all(names.map(ask))
  expect(faults).toMatchObject(names.map(() => ({ word: 'timeout' })))
  const turns = names.slice(0, -1).map(name => `${name}.example`)
  expect(asked.mock.calls.map(([name]) => name)).toEqual(turns)
  for (const resolve of open) resolve(at('93.184.215.14'))
  respondWith(['93.184.215.14'])
  expect(await resolveHostAddresses('d.example', AbortSignal.timeout(5_000))).toEqual(at('93.184.215.14'))
  expect(asked.mock.calls.map(([name]) => name)).toEqual([...turns, 'd.example'])
})
