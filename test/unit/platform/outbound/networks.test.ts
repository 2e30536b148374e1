import { expect, test } from 'vitest'

import { findUrlProblem } from '../../../../src/platform/outbound/guard.ts'
import { toNetworkList, parseUrl } from '../../../../src/platform/outbound/networks.ts'

test('a URL is valid in repeated calls', () => {
  const none = toNetworkList([])
  const addresses = ['https://hörer.example/', 'https://radio.example/Über', 'http://127.0.0.1/é']
  const refused = new Set<string>()
  for (let call = 0; call < 20_000; call++)
    for (const address of addresses) if (!parseUrl(address)) refused.add(address)
  expect([...refused]).toEqual([])
  expect(addresses.map(address => findUrlProblem(address, none)?.code)).toEqual([
    undefined,
    undefined,
    'unsafe_url'
  ])
})

test('an invalid URL is null', () => {
  expect(['', 'radio.example', 'https://', 'http://a b/'].map(text => parseUrl(text))).toEqual([
    null,
    null,
    null,
    null
  ])
  expect(parseUrl('../é.mp3', 'https://radio.example/a/b/')?.href).toBe('https://radio.example/a/%C3%A9.mp3')
})
