import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

import { parseBody } from '../../../../src/api/core/parse.ts'
import {
  choiceField,
  decimalField,
  type Field,
  flagField,
  integerField,
  listField,
  secretField,
  textField,
  webAddressField
} from '../../../../src/model/fields/field.ts'
import { namedValuesField } from '../../../../src/model/fields/named-values.ts'
import { changesValidator, bodyValidator } from '../../../../src/model/fields/validators.ts'
import { ApiError } from '../../../../src/platform/runtime/errors.ts'
import { anyCharacter } from '../../../support/any-text.ts'

const about = 'a field'

/** The parsed value of an input, or the codes of its problems. */
function take(field: Field<unknown>, value: unknown): unknown {
  return attempt(() => parseBody(bodyValidator({ field }), { field: value }).field)
}

function attempt(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { errors } = error.extraData
    return Array.isArray(errors) ? errors.map(({ field, code }) => `${field}: ${code}`) : error.message
  }
}

describe('a field accepts', () => {
  test.for<[string, Field<unknown>, unknown, unknown]>([
    ['text', textField({ max: 5, about }), 'abc', 'abc'],
    ['text that is trimmed', textField({ max: 3, isTrimmed: true, about }), ' abc ', 'abc'],
    ['text that is too long', textField({ max: 3, about }), 'abcd', ['field: too_long']],
    ['text that is empty', textField({ min: 1, max: 3, isTrimmed: true, about }), ' ', ['field: blank']],
    ['text with a NUL', textField({ max: 9, isLong: true, about }), 'a\0b', ['field: invalid_format']],
    ['text with half a pair', textField({ max: 9, about }), '\ud800', ['field: invalid_format']],
    ['text with a line break', textField({ max: 9, about }), 'a\r\nb', ['field: invalid_format']],
    ['long text with a line break', textField({ max: 9, isLong: true, about }), 'a\nb', 'a\nb'],
    [
      'text of the wrong pattern',
      textField({ max: 9, pattern: /^a+$/, about }),
      'b',
      ['field: invalid_format']
    ],
    ['empty text in spite of a pattern', textField({ max: 9, pattern: /^a+$/, about }), '', ''],
    ['a number for text', textField({ max: 9, about }), 1, ['field: invalid_type']],
    ['null where it must be', textField({ max: 9, about }), null, ['field: required']],
    ['null where it need not be', textField({ max: 9, fallback: 'x', about }), null, 'x'],
    ['a number', integerField({ min: 0, max: 9, about }), 9, 9],
    ['digits', integerField({ min: 0, max: 9, about }), '7', 7],
    ['a number out of range', integerField({ min: 0, max: 9, about }), 10, ['field: out_of_range']],
    ['a fraction', integerField({ min: 0, max: 9, about }), 1.5, ['field: invalid_type']],
    ['text for a number', integerField({ min: 0, max: 9, about }), '1e3', ['field: invalid_type']],
    ['a huge number', integerField({ min: 0, max: 9, about }), 1e300, ['field: out_of_range']],
    ['a number with a fraction', decimalField({ min: 0, max: 30, about }), 2.5, 2.5],
    ['a number without one', decimalField({ min: 0, max: 30, about }), 30, 30],
    ['text with a fraction', decimalField({ min: -1, max: 30, about }), '-0.25', -0.25],
    ['a fraction out of range', decimalField({ min: 0, max: 30, about }), 30.001, ['field: out_of_range']],
    ['an endless number', decimalField({ min: 0, max: 30, about }), Infinity, ['field: out_of_range']],
    ['text that is no number', decimalField({ min: 0, max: 30, about }), '1e1', ['field: invalid_type']],
    ['nothing for a number', decimalField({ min: 0, max: 30, about }), '', ['field: invalid_type']],
    ['true for a number', decimalField({ min: 0, max: 30, about }), true, ['field: invalid_type']],
    ['false', flagField({ fallback: true, about }), false, false],
    ['0', flagField({ fallback: true, about }), 0, false],
    ['"true"', flagField({ about }), 'true', true],
    ['"1"', flagField({ about }), '1', ['field: invalid_type']],
    ['an option', choiceField(['a', 'b'], { about }), 'b', 'b'],
    ['another word', choiceField(['a', 'b'], { about }), 'c', ['field: not_in_enum']],
    ['a list for an option', choiceField(['a', 'b'], { about }), ['a'], ['field: invalid_type']],
    ['an address', webAddressField({ max: 50, about }), 'https://example.com/a', 'https://example.com/a'],
    ['no address', webAddressField({ max: 50, about }), '', ''],
    ['a foreign scheme', webAddressField({ max: 50, about }), 'ftp://example.com', ['field: invalid_url']],
    [
      'an address with a password',
      webAddressField({ max: 50, about }),
      'http://a:b@example.com',
      ['field: invalid_url']
    ],
    ['a path', webAddressField({ max: 50, about }), '/a', ['field: invalid_url']],
    [
      'named values',
      namedValuesField({ max: 3, about }),
      [{ key: 'a', value: 1 }, {}, null],
      [{ key: 'a', value: 1 }]
    ],
    [
      'an object of named values',
      namedValuesField({ max: 3, about }),
      { a: 'x', b: true, c: null },
      [
        { key: 'a', value: 'x' },
        { key: 'b', value: true }
      ]
    ],
    [
      'a name twice',
      namedValuesField({ max: 3, about }),
      [
        { key: 'a', value: 1 },
        { key: 'a', value: 2 }
      ],
      ['field: duplicate']
    ],
    ['too many named values', namedValuesField({ max: 1, about }), { a: 1, b: 2 }, ['field: too_long']],
    [
      'a value that is a list',
      namedValuesField({ max: 3, about }),
      { a: [1] },
      ['field.0.value: invalid_type']
    ],
    [
      'a list with empty elements',
      listField(v.number(), { max: 9, items: {}, about }),
      [1, null, '', [], {}, 2],
      [1, 2]
    ]
  ])('%s', ([, field, value, expected]) => {
    expect(take(field, value)).toEqual(expected)
  })
})

describe('a form', () => {
  const fields = {
    name: textField({ min: 1, max: 9, about }),
    size: integerField({ min: 0, max: 9, fallback: 3, about }),
    list: listField(v.number(), { max: 9, items: {}, about }),
    password: secretField({ max: 9, about })
  }

  test('has a value for each field, and drops unknown members', () => {
    const body = { name: 'a', other: 1, id: 7 }
    expect(parseBody(bodyValidator(fields), body)).toEqual({ name: 'a', size: 3, list: [], password: '' })
  })

  test('of changes has the sent fields, and resets those that are null', () => {
    expect(parseBody(changesValidator(fields), { size: null, list: [1] })).toEqual({ size: 3, list: [1] })
    expect(parseBody(changesValidator(fields), {})).toEqual({})
    expect(attempt(() => parseBody(changesValidator(fields), { name: null }))).toEqual(['name: required'])
  })

  test('reports all problems at once', () => {
    const problems = attempt(() => parseBody(bodyValidator(fields), { size: -1, list: 'x' }))
    expect(problems).toEqual(['name: required', 'size: out_of_range', 'list: invalid_type'])
  })

  test('is an object', () => {
    for (const body of [[], 'x', 1, null, true])
      expect(attempt(() => parseBody(bodyValidator(fields), body))).toEqual([': invalid_type'])
  })

  test('accepts any JSON or names the problem, and throws nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), value => {
        const result = attempt(() =>
          parseBody(
            bodyValidator({
              ...fields,
              named: namedValuesField({ max: 5, about }),
              on: flagField({ about })
            }),
            {
              name: value,
              size: value,
              list: value,
              password: value,
              named: value,
              on: value
            }
          )
        )
        expect(Array.isArray(result) || typeof result === 'object').toBe(true)
      })
    )
  })
})
