import { expect, test } from 'vitest'

import { isWebAddress } from '../../../src/model/fields/field.ts'
import { pageHeaders } from '../../../src/pages/page.ts'

const invalid = [
  'https://a.example;script-src-elem/',
  'https://*/',
  "http://a'b.example/",
  'https://x;sandbox/'
]
const valid = [
  'https://radio.example:8443/a',
  'http://192.0.2.1:8000/',
  'http://[2001:db8::1]/',
  'http://icecast_1:8000/'
]

test('the address of a stream adds only its origin to the policy', () => {
  const policyOf = (urls: readonly string[]) =>
    pageHeaders({ baseUrl: 'https://own.example', streams: urls.map(url => ({ url })), isPrivate: false })[
      'Content-Security-Policy'
    ]
  expect(policyOf(invalid)).toBe(policyOf([]))
  expect(policyOf(valid)).toContain(valid.map(each => new URL(each).origin).join(' '))
})

test('a web address has a host of letters, digits, dots and hyphens, or an IP address', () => {
  expect(invalid.filter(isWebAddress)).toEqual([])
  expect(valid.filter(isWebAddress)).toEqual(valid)
})
