import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  countCharacters,
  truncateCharacters,
  truncateGraphemes,
  splitTextToLength
} from '../../../src/webhooks/format/truncate.ts'

const family = '👩‍👩‍👧'
const anyText = fc.string({ unit: 'grapheme', maxLength: 60 })
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
const graphemesOf = (text: string) => Array.from(segmenter.segment(text), ({ segment }) => segment)

test.for([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['abc', 1, '…'],
  ['', 5, ''],
  [`ab${family}c`, 8, `ab${family}c`],
  [`ab${family}cd`, 8, `ab${family}…`],
  [`ab${family}cd`, 7, 'ab…'],
  ['e\u0301e\u0301', 3, 'e\u0301…'],
  ['🎵🎵🎵', 2, '🎵…']
] as const)('%j in %i characters is %j', ([text, most, expected]) => {
  expect(truncateCharacters(text, most)).toBe(expected)
})

test('limits may be of graphemes and of bytes', () => {
  const few = { graphemes: 3, bytes: 100 }
  expect([truncateGraphemes(family.repeat(3), few), truncateGraphemes(family.repeat(4), few)]).toEqual([
    family.repeat(3),
    `${family}${family}…`
  ])
  const small = { graphemes: 100, bytes: 7 }
  expect(['éééx', 'ééééé', family].map(text => truncateGraphemes(text, small))).toEqual(['éééx', 'éé…', '…'])
})

test('a truncated text is the longest sequence of whole graphemes within the limit', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, most) => {
      const all = graphemesOf(text)
      const candidates = all.map((_, count) => `${all.slice(0, count).join('')}…`)
      const longest = candidates.findLast(each => countCharacters(each) <= most)
      expect(truncateCharacters(text, most)).toBe(countCharacters(text) <= most ? text : longest)
    })
  )
})

test('a text truncated to two limits is the longest as well', () => {
  const limits = fc.record({
    graphemes: fc.integer({ min: 1, max: 20 }),
    bytes: fc.integer({ min: 3, max: 60 })
  })
  fc.assert(
    fc.property(anyText, limits, (text, most) => {
      const fits = (each: string) =>
        graphemesOf(each).length <= most.graphemes && Buffer.byteLength(each) <= most.bytes
      const all = graphemesOf(text)
      const candidates = all.map((_, count) => `${all.slice(0, count).join('')}…`)
      expect(truncateGraphemes(text, most)).toBe(fits(text) ? text : candidates.findLast(fits))
    })
  )
})

test('parts make up the text, are within their limit, and divide no grapheme that fits', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 12, max: 40 }), (text, most) => {
      fc.pre(graphemesOf(text).every(each => countCharacters(each) <= most))
      const parts = splitTextToLength(text, most)
      expect(parts.flatMap(graphemesOf)).toEqual(graphemesOf(text))
      for (const part of parts) {
        expect(countCharacters(part)).toBeGreaterThan(0)
        expect(countCharacters(part)).toBeLessThanOrEqual(most)
      }
    })
  )
})

test('a grapheme that is longer than a part is divided between characters', () => {
  const tower = `a${'\u0301'.repeat(9)}`
  expect(splitTextToLength(tower, 4).map(countCharacters)).toEqual([4, 4, 2])
  expect(splitTextToLength('', 4)).toEqual([])
})
