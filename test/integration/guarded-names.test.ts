import { beforeEach, describe, expect, test, vi } from 'vitest'

import { networkList } from '../../src/networks.ts'
import { guardedFetch } from '../../src/webhooks/guarded-fetch.ts'
import { addressesOf, checkTarget } from '../../src/webhooks/look-up.ts'
import { startWebServer } from '../support/web-server.ts'

interface Address {
  readonly address: string
  readonly family: number
}

const asked = vi.hoisted(() => vi.fn<(name: string) => Promise<Address[]>>())
vi.mock('node:dns/promises', () => ({ lookup: asked }))

const loopback = networkList(['127.0.0.0/8'])
const none = networkList([])
const at = (...addresses: string[]): Address[] =>
  addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))

/** What names lead to: each answer is given once, the last one ever after. */
function answer(...answers: string[][]) {
  for (const addresses of answers.slice(0, -1)) asked.mockImplementationOnce(async () => at(...addresses))
  asked.mockImplementation(async () => at(...(answers.at(-1) ?? [])))
}

beforeEach(() => {
  asked.mockReset()
})

describe('a name', () => {
  test.for<[string[]]>([
    [['93.184.215.14', '10.0.0.1']],
    [['10.0.0.1', '93.184.215.14']],
    [['2606:2800:21f:cb07:6820:80da:af6b:8b2c', 'fd00::1']],
    [['93.184.215.14', '::ffff:169.254.169.254']]
  ])('is refused for one forbidden address: %j', async ([addresses]) => {
    answer(addresses)
    await expect(guardedFetch('http://radio.example/', { allowed: none })).rejects.toMatchObject({
      word: 'blocked'
    })
    expect(await checkTarget('http://radio.example/', none)).toMatchObject({ code: 'unsafe_url' })
  })

  test('is asked for once, and where it led then is connected to', async () => {
    await using server = await startWebServer()
    await using other = await startWebServer()
    answer(['127.0.0.1'], ['127.0.0.2'])
    const { status } = await guardedFetch(`http://radio.example:${server.port}/`, { allowed: loopback })
    expect(status).toBe(200)
    expect(asked).toHaveBeenCalledTimes(1)
    expect(server.asked[0]?.headers.host).toBe(`radio.example:${server.port}`)
    expect(other.asked).toEqual([])
  })

  test('that leads to a private network since it was saved is refused', async () => {
    answer(['93.184.215.14'], ['127.0.0.1'])
    await using server = await startWebServer()
    const url = `http://radio.example:${server.port}/`
    expect(await checkTarget(url, none)).toBeNull()
    await expect(guardedFetch(url, { allowed: none })).rejects.toMatchObject({ word: 'blocked' })
    expect(server.asked).toEqual([])
  })

  test('of which one address is dead is reached by another', async () => {
    await using server = await startWebServer()
    answer(['127.0.0.77', '127.0.0.1'])
    const { status } = await guardedFetch(`http://radio.example:${server.port}/`, { allowed: loopback })
    expect(status).toBe(200)
  })
})

test('a silent name server is waited for no longer than the request lasts, and others are not asked in vain', async () => {
  const open: ((addresses: Address[]) => void)[] = []
  asked.mockImplementation(() => new Promise(resolve => open.push(resolve)))
  const ask = (name: string) =>
    guardedFetch(`http://${name}.example/`, { allowed: none, timeoutMs: 100 }).catch(
      (error: unknown) => error
    )
  // Two at a time, so the third never has its turn.
  const faults = await Promise.all(['a', 'b', 'c'].map(ask))
  expect(faults).toMatchObject([{ word: 'timeout' }, { word: 'timeout' }, { word: 'timeout' }])
  expect(asked.mock.calls.map(([name]) => name)).toEqual(['a.example', 'b.example'])
  for (const resolve of open) resolve(at('93.184.215.14'))
  answer(['93.184.215.14'])
  expect(await addressesOf('d.example', AbortSignal.timeout(5_000))).toEqual(at('93.184.215.14'))
  expect(asked.mock.calls.map(([name]) => name)).toEqual(['a.example', 'b.example', 'd.example'])
})
