import { describe, expect, test } from 'vitest'

import { redactAddress, listAddressTokens } from '../../../src/webhooks/redact.ts'

describe('a redacted address', () => {
  test.for([
    ['https://a.example', 'https://a.example', 'https://a.example'],
    ['https://a.example/', 'https://a.example/', 'https://a.example/'],
    ['https://a.example/hook', 'https://a.example/hook', 'https://a.example/…'],
    ['https://a.example:8443/hook?token=x', 'https://a.example:8443/hook?…', 'https://a.example:8443/…'],
    ['https://a.example/#token', 'https://a.example/?…', 'https://a.example/…'],
    ['https://u:p@a.example/hook', 'https://a.example/hook', 'https://a.example/…'],
    ['no address', '…', '…']
  ] as const)('%s', ([address, toManagers, toReaders]) => {
    expect(redactAddress(address, true)).toBe(toManagers)
    expect(redactAddress(address, false)).toBe(toReaders)
  })
})

test('parts of an address that may be tokens are longer than words', () => {
  expect(listAddressTokens('https://a.example/hook')).toEqual([])
  expect(listAddressTokens('https://a.example/services/T0KEN-in-path?key=T0KEN-in-query&a=b')).toEqual([
    '/services/T0KEN-in-path?key=T0KEN-in-query&a=b',
    '/services/T0KEN-in-path',
    'T0KEN-in-path',
    'T0KEN-in-query'
  ])
  expect(listAddressTokens('no address')).toEqual([])
})
