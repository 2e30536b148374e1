import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { isBlank, removeControlCharacters } from '../../../src/webhooks/format/plain-text.ts'
import { anyText } from '../../support/any-text.ts'

describe('normalizing a text', () => {
  test.for([
    ['Déjà 👩‍👩‍👧 vu\tנע\u200fם', 'Déjà 👩‍👩‍👧 vu\tנע\u200fם'],
    ['one\r\ntwo\rthree\nfour', 'one\ntwo\nthree\nfour'],
    ['a\0b\u001bc\u007fd\u0085e', 'abcde'],
    ['\u202eevil\u202c \u2067x\u2069', 'evil x'],
    ['a\ud83db\udc69', 'ab']
  ] as const)('%j', ([text, expected]) => {
    expect(removeControlCharacters(text)).toBe(expected)
  })

  test('is idempotent', () => {
    fc.assert(
      fc.property(anyText(), text => {
        expect(removeControlCharacters(removeControlCharacters(text))).toBe(removeControlCharacters(text))
      })
    )
  })
})

test('a text without visible characters is blank', () => {
  const blank = ['', ' \n\t', '\u00a0\u2003', '\u2060\u200b\ufeff', '\u200f\0']
  const shown = ['a', '.', '🎵', '\ufffd', ' \u200fx']
  expect([blank.map(isBlank), shown.map(isBlank)]).toEqual([blank.map(() => true), shown.map(() => false)])
})
