import { BlockList } from 'node:net'

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { findUrlProblem, isForbiddenAddress } from '../../../../src/platform/outbound/guard.ts'

const none = new BlockList()
const codeOf = (url: string) => findUrlProblem(url, none)?.code ?? null

const edges: [network: string, below: string, first: string, last: string, above: string][] = [
  ['10/8', '9.255.255.255', '10.0.0.0', '10.255.255.255', '11.0.0.0'],
  ['carrier-grade NAT', '100.63.255.255', '100.64.0.0', '100.127.255.255', '100.128.0.0'],
  ['loopback', '126.255.255.255', '127.0.0.0', '127.255.255.255', '128.0.0.0'],
  ['Azure metadata', '168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
  ['link-local', '169.253.255.255', '169.254.0.0', '169.254.255.255', '169.255.0.0'],
  ['172.16/12', '172.15.255.255', '172.16.0.0', '172.31.255.255', '172.32.0.0'],
  ['protocols', '191.255.255.255', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['documentation 1', '192.0.1.255', '192.0.2.0', '192.0.2.255', '192.0.3.0'],
  ['6to4 relays', '192.88.98.255', '192.88.99.0', '192.88.99.255', '192.88.100.0'],
  ['192.168/16', '192.167.255.255', '192.168.0.0', '192.168.255.255', '192.169.0.0'],
  ['benchmarks', '198.17.255.255', '198.18.0.0', '198.19.255.255', '198.20.0.0'],
  ['documentation 2', '198.51.99.255', '198.51.100.0', '198.51.100.255', '198.51.101.0'],
  ['documentation 3', '203.0.112.255', '203.0.113.0', '203.0.113.255', '203.0.114.0'],
  ['multicast and reserved', '223.255.255.255', '224.0.0.0', '255.255.255.255', '1.0.0.0'],
  ['unspecified', '1.0.0.0', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['Teredo and protocols', '2000:ffff::', '2001::', '2001:1ff:ffff::', '2001:200::'],
  ['IPv6 documentation', '2001:db7:ffff::', '2001:db8::', '2001:db8:ffff::', '2001:db9::'],
  ['6to4', '2001:ffff::', '2002::', '2002:ffff::', '2003::'],
  ['new documentation', '3ffe:ffff::', '3fff::', '3fff:fff:ffff::', '3fff:1000::']
]

describe('a network', () => {
  test.for(edges)('is forbidden from its first to its last address: %s', ([, below, first, last, above]) => {
    const results = [below, first, last, above].map(address => isForbiddenAddress(address, none))
    expect(results).toEqual([false, true, true, false])
  })

  test.for(['::', '::1', '64:ff9b:1::1', '100::1', '1fff::', '4000::', '5f00::1', 'fc00::1', 'fdff::'])(
    'outside the public internet is forbidden: %s',
    address => {
      expect(isForbiddenAddress(address, none)).toBe(true)
    }
  )

  test.for(['fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', 'localhost', '', '1.2.3', '1.2.3.4/8', '%'])(
    'that is local, or no address, is forbidden: %j',
    address => {
      expect(isForbiddenAddress(address, none)).toBe(true)
    }
  )
})

const octet = fc.integer({ min: 0, max: 255 })
const ipv4 = fc.tuple(fc.oneof(octet, fc.constantFrom(0, 10, 127, 224)), octet, octet, octet)

test('all notations of an IPv4 address have the same result', () => {
  fc.assert(
    fc.property(ipv4, ([a, b, c, d]) => {
      const forbidden = isForbiddenAddress(`${a}.${b}.${c}.${d}`, none)
      const number = ((a * 256 + b) * 256 + c) * 256 + d
      const high = (a * 256 + b).toString(16)
      const low = (c * 256 + d).toString(16)
      const forms = [
        `${number}`,
        `0x${number.toString(16)}`,
        `0${number.toString(8)}`,
        `${a}.${b * 65_536 + c * 256 + d}`,
        `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`,
        `[::ffff:${high}:${low}]`,
        `[::ffff:${a}.${b}.${c}.${d}]`,
        `[64:ff9b::${high}:${low}]`
      ]
      for (const form of forms)
        expect([form, codeOf(`http://${form}/`)]).toEqual([form, forbidden ? 'unsafe_url' : null])
    })
  )
})

test('IPv6 addresses outside 2000::/3 without an IPv4 address are forbidden', () => {
  const group = fc.integer({ min: 0, max: 65_535 })
  const others = fc.array(group, { minLength: 7, maxLength: 7 })
  const first = group.filter(value => value >> 13 !== 1 && value !== 0 && value !== 0x64)
  fc.assert(
    fc.property(first, others, (head, tail) => {
      const address = [head, ...tail].map(value => value.toString(16)).join(':')
      expect([address, isForbiddenAddress(address, none)]).toEqual([address, true])
    })
  )
})

test('the guard never throws', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map(host => `http://${host}`),
        fc.ipV6()
      ),
      text => {
        findUrlProblem(text, none)
        expect(typeof isForbiddenAddress(text, none)).toBe('boolean')
      }
    )
  )
})
