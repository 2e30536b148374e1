import { expect, test } from 'vitest'

import { checkUrl } from '../../src/outbound/guard.ts'
import { networkList, parsedUrl } from '../../src/outbound/networks.ts'

test('an address is one, however often it was asked', () => {
  const none = networkList([])
  const addresses = ['https://hörer.example/', 'https://radio.example/Über', 'http://127.0.0.1/é']
  const refused = new Set<string>()
  for (let call = 0; call < 20_000; call++)
    for (const address of addresses) if (!parsedUrl(address)) refused.add(address)
  expect([...refused]).toEqual([])
  expect(addresses.map(address => checkUrl(address, none)?.code)).toEqual([
    undefined,
    undefined,
    'unsafe_url'
  ])
})

test('a text that is none is none', () => {
  expect(['', 'radio.example', 'https://', 'http://a b/'].map(text => parsedUrl(text))).toEqual([
    null,
    null,
    null,
    null
  ])
  expect(parsedUrl('../é.mp3', 'https://radio.example/a/b/')?.href).toBe('https://radio.example/a/%C3%A9.mp3')
})
