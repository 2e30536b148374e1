import { describe, expect, test } from 'vitest'

import { openAddressResolver } from '../../../src/http/client-address.ts'

const untrusted = openAddressResolver([])
const proxied = openAddressResolver(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])

describe('without trusted proxies', () => {
  test('the address is that of the connection, and the header is ignored', () => {
    expect(untrusted('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9')
    expect(untrusted('10.0.0.1', '198.51.100.1, 10.0.0.2')).toBe('10.0.0.1')
  })

  const spellings: [connection: string, address: string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['0000:0000:0000:0000:0000:ffff:cb00:7109', '203.0.113.9'],
    ['0000:0000:0000:0000:0000:FFFF:7F00:0001', '127.0.0.1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:0db8:0000:0000:0000:0000:0000:0001'],
    ['', '']
  ]
  test.for(spellings)('%s is %s', ([connection, address]) => {
    expect(untrusted(connection, '')).toBe(address)
  })
})

describe('behind trusted proxies', () => {
  const table: [what: string, connection: string, forwarded: string, address: string][] = [
    ['one hop', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a chain of proxies', '10.0.0.1', '198.51.100.1, 192.0.2.7, 10.3.2.1', '198.51.100.1'],
    ['a proxy over IPv6', 'fd00:0000:0000:0000:0000:0000:0000:0001', '198.51.100.1', '198.51.100.1'],
    [
      'a proxy over an IPv4-mapped socket',
      '0000:0000:0000:0000:0000:ffff:0a00:0001',
      '198.51.100.1',
      '198.51.100.1'
    ],
    ['a client over IPv6', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['a mapped client', '10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['addresses that the client sent', '10.0.0.1', '127.0.0.1, 1.2.3.4, 198.51.100.1', '198.51.100.1'],
    ['a forged proxy', '10.0.0.1', '1.2.3.4, 10.0.0.9, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['ports', '10.0.0.1', '1.2.3.4, 198.51.100.1:4711', '198.51.100.1'],
    ['ports of IPv6', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['brackets', '10.0.0.1', '[2001:db8::1]', '2001:db8::1'],
    ['no address before the proxy', '10.0.0.1', '1.2.3.4, unknown', '10.0.0.1'],
    ['an empty hop', '10.0.0.1', '1.2.3.4, ,10.0.0.2', '10.0.0.1'],
    ['only proxies', '10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.1'],
    ['nothing', '10.0.0.1', '', '10.0.0.1'],
    ['an untrusted connection with the header', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a neighbour of a trusted address', '192.0.2.8', '198.51.100.1', '192.0.2.8'],
    ['a scoped address', '10.0.0.1', 'fe80::1%eth0', 'fe80::1%eth0']
  ]
  test.for(table)('%s', ([, connection, forwarded, address]) => {
    expect(proxied(connection, forwarded)).toBe(address)
  })

  test('a long header is parsed quickly', () => {
    const forwarded = `${'1.2.3.4:'.repeat(5_000)}, ${'['.repeat(5_000)}`
    expect(proxied('10.0.0.1', forwarded)).toBe('10.0.0.1')
  })
})
