import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { detectImageType, imageTypes } from '../../../../src/model/songs/image-type.ts'

const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))

test.for([
  ['\xFF\xD8\xFF\xE0', 'image/jpeg'],
  ['\x89PNG\r\n\x1A\n', 'image/png'],
  ['RIFF\0\x01\x02\nWEBPVP8 ', 'image/webp'],
  ['GIF87a', 'image/gif'],
  ['GIF89a and more', 'image/gif'],
  ['', null],
  ['\xFF\xD8', null],
  ['\x89PNG\n\n\x1A\n', null],
  ['RIFF\0\0\0\0WAVE', null],
  ['GIF90a', null],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', null],
  ['<!-- \xFF\xD8\xFF', null]
] as const)('bytes that begin with %j are %s', ([start, type]) => {
  expect(detectImageType(bytesOf(start))).toBe(type)
})

test('the type depends on the first twelve bytes only', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 12, maxLength: 12 }), fc.uint8Array(), (start, rest) => {
      const type = detectImageType(start)
      expect([...imageTypes, null]).toContain(type)
      expect(detectImageType(Uint8Array.from([...start, ...rest]))).toBe(type)
    })
  )
})
