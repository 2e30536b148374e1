import { assert, integer, oneof, property, stringMatching } from 'fast-check'
import { expect, test } from 'vitest'

import { makeShortName, shortNamePattern } from '../../../../src/model/station/short-name.ts'
import { anyText } from '../../../support/any-text.ts'

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
  expect(makeShortName(name)).toBe(shortName)
})

test('the number is appended, also at the maximum length', () => {
  expect(makeShortName('Harbour FM', 2)).toBe('harbour_fm_2')
  expect(makeShortName('x'.repeat(100), 12)).toBe(`${'x'.repeat(97)}_12`)
})

test('the result is always a valid short name', () => {
  const names = oneof(
    anyText({ maxLength: 120 }),
    stringMatching(/^[0-9 .]{0,120}$/),
    stringMatching(/^[0-9]{90,110}[a-z]?$/)
  )
  assert(
    property(names, integer({ min: 1, max: 1_000 }), (name, number) => {
      const made = makeShortName(name, number)
      expect(made).toMatch(shortNamePattern)
      expect(made.length).toBeLessThanOrEqual(100)
    })
  )
})

test.each(['', '7', '007', '.', '..', 'a b', 'a/b', 'ü', 'a?', 'a\n'])(
  '"%s" is not a valid short name',
  text => {
    expect(shortNamePattern.test(text)).toBe(false)
  }
)
