import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { openJsonFileSplitter } from '../../../src/api/library/uploads/json-file-body.ts'

/** Decodes the file of a body that arrives in pieces of a size. */
function decode(body: string, pieceBytes: number): Buffer {
  const splitter = openJsonFileSplitter()
  const bytes = Buffer.from(body)
  const found: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    found.push(...splitter.take(bytes.subarray(at, at + pieceBytes)))
  return Buffer.concat(found)
}

const bodyOf = (file: string) => JSON.stringify({ path: 'a.mp3', file })

test('Base64 may have line breaks, no padding, or the alphabet for URLs, however it arrives', () => {
  const forms = fc.record({
    bytes: fc.uint8Array({ maxLength: 200 }).map(each => Buffer.from(each)),
    encoding: fc.constantFrom('base64', 'base64url'),
    isPadded: fc.boolean(),
    columns: fc.constantFrom(1, 4, 64, 76, 1_000),
    lineBreak: fc.constantFrom('\n', '\r\n', ' ', '\t', '\r\n\r\n'),
    pieceBytes: fc.integer({ min: 1, max: 100 })
  })
  fc.assert(
    fc.property(forms, ({ bytes, encoding, isPadded, columns, lineBreak, pieceBytes }) => {
      const text = bytes.toString(encoding).replace(/=+$/, '')
      const padded = isPadded ? text.padEnd(Math.ceil(text.length / 4) * 4, '=') : text
      const broken = padded.replace(new RegExp(`.{1,${columns}}`, 'g'), `$&${lineBreak}`)
      expect(decode(bodyOf(broken), pieceBytes)).toEqual(bytes)
    })
  )
})

test.for([
  'QQ==QQ==',
  'QQ==QQ',
  'QQ===',
  'Q',
  'QUJ?',
  'QUJD\\',
  '"',
  'data:audio/mpeg;base64,QUJD',
  'QUJD\u00a0'
])('%j is refused', text => {
  for (const pieceBytes of [1, 3, 100])
    expect(() => decode(bodyOf(text), pieceBytes)).toThrow('must be Base64')
})
