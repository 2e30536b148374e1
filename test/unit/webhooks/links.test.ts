import { expect, test } from 'vitest'

import { findTextLinks } from '../../../src/webhooks/types/bluesky.ts'

const found = (text: string) =>
  findTextLinks(text).map(({ address, from, to }) => {
    expect(Buffer.from(text).subarray(from, to).toString()).toBe(address)
    return address
  })

test.for([
  ['no link', []],
  ['https://a.example', ['https://a.example']],
  [
    'Déjà 🎵 https://a.example/x?y=é, (http://b.example/c) HTTPS://C.example.',
    ['https://a.example/x?y=é', 'http://b.example/c', 'HTTPS://C.example']
  ],
  ['https://a.example/Night_(song)', ['https://a.example/Night_(song)']],
  ['xhttps://a.example http://', []],
  ['https://a.exam… https://a.example/pa…', []],
  ['"https://a.example"', []]
] as const)('of %j: %j', ([text, links]) => {
  expect(found(text)).toEqual(links)
})
