import { expect, test } from 'vitest'

import { isWebAddress } from '../../../src/fields/field.ts'
import { pageHeaders } from '../../../src/pages/page.ts'

const odd = ['https://a.example;script-src-elem/', 'https://*/', "http://a'b.example/", 'https://x;sandbox/']
const plain = [
  'https://radio.example:8443/a',
  'http://192.0.2.1:8000/',
  'http://[2001:db8::1]/',
  'http://icecast_1:8000/'
]

test('the address of a stream adds its origin to the policy, and nothing else', () => {
  const policyOf = (streams: readonly string[]) =>
    pageHeaders({ baseUrl: 'https://own.example', streams, isPrivate: false })['Content-Security-Policy']
  expect(policyOf(odd)).toBe(policyOf([]))
  expect(policyOf(plain)).toContain(plain.map(each => new URL(each).origin).join(' '))
})

test('an address of the web has a host of letters, digits, dots and hyphens, or a number', () => {
  expect(odd.filter(isWebAddress)).toEqual([])
  expect(plain.filter(isWebAddress)).toEqual(plain)
})
