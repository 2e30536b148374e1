import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  decodePercent,
  parseUrlEncodedForm,
  parseQuery
} from '../../../../src/platform/text/percent-encoding.ts'
import { anyText } from '../../../support/any-text.ts'

const pairs = fc.array(fc.tuple(anyText({ maxLength: 8 }), anyText({ maxLength: 8 })), { maxLength: 6 })
const latin = (text: string) => Buffer.from(text, 'latin1')

test('a form in UTF-8 is parsed as browsers do it', () => {
  fc.assert(
    fc.property(pairs, fields => {
      fc.pre(!fields.some(([name]) => name.includes('charset')) && !/[\0\uFEFF]/.test(fields.flat().join('')))
      const text = new URLSearchParams(fields).toString()
      const expected = [...new URLSearchParams(text)]
      expect([...parseQuery(text)]).toEqual(expected)
      expect([...parseUrlEncodedForm(Buffer.from(text), null)]).toEqual(expected)
    })
  )
})

test('malformed escapes and missing values are kept', () => {
  const text = 'a=%zz%E9%&b&=c&&d=1+%2B'
  const expected = [
    ['a', '%zzé%'],
    ['b', ''],
    ['', 'c'],
    ['d', '1 +']
  ]
  expect([...parseQuery(text)]).toEqual(expected)
  expect([...parseUrlEncodedForm(Buffer.from(text), null)]).toEqual(expected)
})

describe('escapes that are not UTF-8', () => {
  test('are decoded value by value', () => {
    expect([...parseQuery('a=caf%E9&b=caf%C3%A9&c=%80')]).toEqual([
      ['a', 'café'],
      ['b', 'café'],
      ['c', '€']
    ])
  })

  test.each(['charset', '_charset_'])('are in the encoding that the field %s names', name => {
    expect(parseQuery(`song=%EB%C9%CE%CF&${name}=koi8-r`).get('song')).toBe('Кино')
    expect(parseUrlEncodedForm(latin(`${name}=koi8-r&song=%EB%C9%CE%CF`), 'shift_jis').get('song')).toBe(
      'Кино'
    )
  })

  test('are in the encoding of the content type', () => {
    expect(parseUrlEncodedForm(latin('song=%EB%C9%CE%CF'), 'koi8-r').get('song')).toBe('Кино')
    expect(parseUrlEncodedForm(latin('song=\xEB\xC9\xCE\xCF'), 'koi8-r').get('song')).toBe('Кино')
  })
})

test('a form has at most 1,000 fields', () => {
  expect([...parseUrlEncodedForm(latin('a=1&'.repeat(999)), null)]).toHaveLength(999)
  expect(() => parseUrlEncodedForm(latin('a=1&'.repeat(1_001)), null)).toThrow('1,000 fields')
})

test('a percent-encoded text is decoded unless an escape is malformed', () => {
  expect(decodePercent('caf%C3%A9 é')).toBe('café é')
  expect(decodePercent('caf%E9')).toBe('café')
  expect(decodePercent('%EF%BF%BD')).toBe('\uFFFD')
  expect(decodePercent('100%')).toBeNull()
  expect(decodePercent('%E9%zz')).toBeNull()
})
