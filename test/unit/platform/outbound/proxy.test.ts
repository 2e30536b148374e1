import { expect, test } from 'vitest'

import { findProxy, parseProxyUrl } from '../../../../src/platform/outbound/proxy.ts'

const env = { HTTP_PROXY: 'http://proxy:3128', HTTPS_PROXY: 'http://secure:3128' }
const proxyOf = (url: string, NO_PROXY?: string) => findProxy(url, { ...env, NO_PROXY })?.host ?? null

test('each scheme has its proxy, and lower case comes first', () => {
  expect(proxyOf('http://a.example/')).toBe('proxy:3128')
  expect(proxyOf('https://a.example/')).toBe('secure:3128')
  expect(findProxy('http://a.example/', {})).toBeNull()
  expect(findProxy('http://a.example/', { ...env, http_proxy: 'http://other:1' })?.host).toBe('other:1')
})

test('this machine is reached directly', () => {
  for (const host of ['localhost:8000', '127.0.0.1:8000', '[::1]:8000'])
    expect(proxyOf(`http://${host}/`)).toBeNull()
})

test.each([
  ['*', 'http://a.example/', true],
  ['a.example', 'http://a.example/', true],
  ['A.Example', 'http://a.example/', true],
  ['a.example', 'http://x.a.example/', true],
  ['.a.example', 'http://x.a.example/', true],
  ['*.a.example', 'http://x.a.example/', true],
  ['a.example', 'http://ba.example/', false],
  ['example', 'http://a.example.net/', false],
  ['a.example:8080', 'http://a.example:8080/', true],
  ['a.example:8080', 'http://a.example/', false],
  ['a.example:443', 'https://a.example/', true],
  ['10.0.0.0/8', 'http://10.1.2.3/', true],
  ['10.0.0.0/8', 'http://11.1.2.3/', false],
  ['10.0.0.1', 'http://10.0.0.1/', true],
  ['2001:db8::/32', 'http://[2001:db8::1]/', true],
  ['[2001:db8::1]:8080', 'http://[2001:db8::1]:8080/', true],
  ['b.example, a.example', 'http://a.example/', true],
  ['b.example a.example', 'http://a.example./', true],
  [',,', 'http://a.example/', false]
])('NO_PROXY=%s excludes %s: %s', (list, url, isExcluded) => {
  expect(proxyOf(url, list) === null).toBe(isExcluded)
})

test('a proxy is a URL with http or https, which may lack the scheme', () => {
  const texts = ['http://p:1', 'https://u:p@p:1', 'p:3128', 'socks5://p', ' ']
  expect(texts.map(text => parseProxyUrl(text)?.host ?? null)).toEqual(['p:1', 'p:1', 'p:3128', null, null])
})
