import { array, assert, dictionary, integer, jsonValue, property, uniqueArray } from 'fast-check'
import { describe, expect, test } from 'vitest'

import { openIgnoredFieldFinder } from '../../../src/api/core/ignored-fields.ts'
import type { JsonSchema } from '../../../src/model/fields/field.ts'
import { anyCharacter, anyText } from '../../support/any-text.ts'

const text = { type: 'string' }
const song = { type: 'object', properties: { title: text }, required: ['title'] }
const schema: JsonSchema = {
  type: 'object',
  properties: {
    name: text,
    song,
    songs: { type: 'array', items: song },
    values: { type: 'object', additionalProperties: text },
    anything: {},
    settings: {
      anyOf: [
        { type: 'array', items: { type: 'object', properties: { key: text, value: {} } } },
        { type: 'object', additionalProperties: { type: ['string', 'null'] } }
      ]
    }
  }
}

const ignoredFields = openIgnoredFieldFinder(schema)

describe('the ignored fields of a body', () => {
  test.for<[what: string, body: unknown, expected: string]>([
    ['nothing', undefined, ''],
    ['known fields', { name: 'a', song: { title: 'b' }, songs: [{ title: 'c' }] }, ''],
    ['an unknown field', { nmae: 'a' }, 'nmae'],
    ['several', { a: 1, name: 'b', c: { d: 1 } }, 'a, c'],
    ['one in an object', { song: { title: 'a', year: 1 } }, 'song.year'],
    ['one in a list', { songs: [{ title: 'a' }, { titel: 'b' }] }, 'songs.1.titel'],
    ['names that are values', { values: { any: 'a', other: 'b' } }, ''],
    ['a value that may be anything', { anything: { a: [{ b: 1 }] } }, ''],
    ['one of two forms', { settings: { a: 'b' } }, ''],
    ['the other form', { settings: [{ key: 'a', value: 'b', note: 'c' }] }, 'settings.0.note'],
    ['a value of the wrong type', { name: { a: 1 }, song: [{ a: 1 }], songs: { a: 1 } }, ''],
    ['a list in place of an object', [{ name: 'a', other: 'b' }], ''],
    [
      'names of methods',
      { constructor: 1, toString: 2, hasOwnProperty: 3 },
      'constructor, toString, hasOwnProperty'
    ],
    ['a field without a name', { '': 1, song: { '': 1 } }, '"", song.""'],
    ['commas, blanks and line breaks', { 'a, b\r\nX-Evil: 1': 1 }, 'a%2C%20b%0D%0AX-Evil%3A%201'],
    ['letters that are not ASCII', { größe: 1, '\ud800': 2 }, 'gr%C3%B6%C3%9Fe, %EF%BF%BD']
  ])('%s', ([, body, expected]) => {
    expect(ignoredFields(body)).toBe(expected)
  })

  test('are all fields without a schema', () => {
    expect(openIgnoredFieldFinder()({ a: 1, b: {} })).toBe('a, b')
  })

  test('are limited to 20 names and 1,000 characters', () => {
    const named = (count: number, name = 'n') =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [name + index, 1]))
    expect(ignoredFields(named(20))).toMatch(/, n19$/)
    expect(ignoredFields(named(21))).toMatch(/, n19, \.\.\.$/)
    expect(ignoredFields(named(5, 'n'.repeat(300)))).toHaveLength(3 * 301 + 2 * 2 + ', ...'.length)
    expect(ignoredFields(named(1, 'n'.repeat(100_000)))).toBe('...')
  })
})

test('for any body, the value is a short line of printable ASCII', () => {
  assert(
    property(jsonValue({ stringUnit: anyCharacter }), body => {
      const value = ignoredFields({ song: body, songs: [body], other: body })
      expect(value).toMatch(/^[!-~]+(, [!-~]+)*$/)
      expect(value.length).toBeLessThanOrEqual(1_000 + ', ...'.length)
      expect(value.split(', ').length).toBeLessThanOrEqual(21)
    })
  )
})

test('unknown fields are listed at any depth, known fields never', () => {
  const unknown = anyText({ minLength: 1, maxLength: 8 }).filter(
    name => name !== 'title' && !/\p{Surrogate}/u.test(name)
  )
  assert(
    property(
      uniqueArray(unknown, { maxLength: 5 }),
      array(integer(), { maxLength: 3 }),
      dictionary(anyText({ maxLength: 5 }), integer()),
      (names, before, values) => {
        const odd = Object.fromEntries([['title', 'a'], ...names.map(name => [name, values])])
        const songs = [...before.map(String).map(title => ({ title })), odd]
        const found = ignoredFields({ name: 'a', songs, values })
        const expected = names.map(name => `songs.${before.length}.${name}`)
        expect(found === '' ? [] : found.split(', ').map(decodeURIComponent).toSorted()).toEqual(
          expected.toSorted()
        )
      }
    )
  )
})
