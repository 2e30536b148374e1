import { assert, integer, oneof, property, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'

import { shortNameOf, shortNamePattern } from '../../../src/station/short-name.ts'
import { anyText } from '../../support/any-text.ts'

test.each([
  ['Harbour FM', 'harbour_fm'],
  ['  Two   words ', 'two_words'],
  ['Café Übersee', 'cafe_ubersee'],
  ['98.7', '98.7'],
  ['1984', 'station_1984'],
  ['...', 'station_...'],
  ['Радио', 'station'],
  ['🎵', 'station'],
  ['A&B/C', 'abc'],
  [`${'7'.repeat(100)}x`, `station_${'7'.repeat(92)}`]
])('the short name of "%s" is "%s"', (name, shortName) => {
  expect(shortNameOf(name)).toBe(shortName)
})

test('another one is told by its number, also at the greatest length', () => {
  expect(shortNameOf('Harbour FM', 2)).toBe('harbour_fm_2')
  expect(shortNameOf('x'.repeat(100), 12)).toBe(`${'x'.repeat(97)}_12`)
})

test('whatever the name, what is made can be a short name', () => {
  const names = oneof(
    anyText({ maxLength: 120 }),
    stringMatching(/^[0-9 .]{0,120}$/),
    stringMatching(/^[0-9]{90,110}[a-z]?$/)
  )
  assert(
    property(names, integer({ min: 1, max: 1_000 }), (name, number) => {
      const made = shortNameOf(name, number)
      expect(made).toMatch(shortNamePattern)
      expect(made.length).toBeLessThanOrEqual(100)
    })
  )
})

test.each(['', '7', '007', '.', '..', 'a b', 'a/b', 'ü', 'a?', 'a\n'])('"%s" can be no short name', text => {
  expect(shortNamePattern.test(text)).toBe(false)
})
