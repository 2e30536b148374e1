import { expect, test } from 'vitest'

import { parseRecordForm } from '../../../src/http/record-form.ts'

const number = { type: 'integer' }
const schema = {
  properties: {
    name: { type: 'string' },
    code: { oneOf: [number, { type: 'string' }] },
    isOn: { type: 'boolean' },
    count: { type: ['integer', 'null'] },
    days: { type: 'array', items: number },
    items: { type: 'array', items: { properties: { at: number, text: { type: 'string' } } } },
    fields: { type: 'object', additionalProperties: { type: 'string' } },
    any: {}
  }
}
const parse = (text: string) => parseRecordForm(new URLSearchParams(text), schema)
const repeat = (count: number, text: string) => Array.from({ length: count }, () => text)

test.for<[string, unknown]>([
  ['', {}],
  ['name=a+b%26%C3%A9&name=last', { name: 'last' }],
  ['code=0123&any=1', { code: '0123', any: '1' }],
  ['isOn=1&count=12', { isOn: true, count: 12 }],
  ['isOn=false&count=', { isOn: false, count: null }],
  ['isOn=maybe&count=x', { isOn: 'maybe', count: 'x' }],
  ['isOn=&name=&days=', { isOn: false, name: '', days: null }],
  ['days[]=1&days%5B%5D=7', { days: [1, 7] }],
  [repeat(60, 'days[]=1').join('&'), { days: repeat(60, '1').map(Number) }],
  ['items[0][at]=1&items[0][text]=x&items[1][at]=2', { items: [{ at: 1, text: 'x' }, { at: 2 }] }],
  ['fields[3]=a&fields[4000]=b', { fields: { 3: 'a', 4000: 'b' } }],
  ['fields[toString]=a', { fields: { toString: 'a' } }]
])('reads %s as PHP', ([text, record]) => {
  expect(parse(text)).toEqual(record)
})

test.for([
  ['__proto__[a]=1', '__proto__[a]'],
  ['a[__proto__]=1', 'a[__proto__]'],
  ['items[][at]=1&items[][at]=2', 'items[][at]'],
  [`a${'[b]'.repeat(9)}=1`, ''],
  [repeat(1_001, 'days[]=1').join('&'), '']
])('refuses %s', ([text = '', field]) => {
  expect(() => parse(text)).toThrow(
    expect.objectContaining({ extraData: { errors: [expect.objectContaining({ field })] } })
  )
})

test('refuses a name that is longer than any field before it is parsed', () => {
  expect(() => parse(`a${'[a]'.repeat(300_000)}=`)).toThrow('more than 500 characters')
})
