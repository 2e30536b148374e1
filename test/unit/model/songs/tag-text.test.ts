import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import { cleanLine, cleanLines } from '../../../../src/model/songs/song.ts'
import { anyText } from '../../../support/any-text.ts'

test('control characters become one space, also NUL', () => {
  expect(cleanLine(' a\0b\r\n\u0085c ', 255)).toBe('a b c')
})

test('lone surrogates and U+FFFD are removed, pairs are kept', () => {
  expect(cleanLine('x\uD83Dy\uFFFD\u{1F600}', 255)).toBe('xy\u{1F600}')
})

test('a limit counts code points', () => {
  expect(cleanLine('\u{1F600}'.repeat(300), 255)).toBe('\u{1F600}'.repeat(255))
})

test('line feeds of lyrics are kept', () => {
  expect(cleanLines('one\r\ntwo\rthree\0\n', 255)).toBe('one\ntwo\nthree')
})

test('cleaned text is truncated, well-formed and clean', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (text, limit) => {
      const line = cleanLine(text, limit)
      expect(Array.from(line).length).toBeLessThanOrEqual(limit)
      expect(line).not.toMatch(/[\p{Cc}\p{Cs}]/u)
      expect(cleanLine(line, limit)).toBe(line)
    })
  )
})
