import { expect, test } from 'vitest'

import { choice, type Field, flag, integer, text } from '../../../../src/model/fields/field.ts'
import { bodySchema, fieldExample } from '../../../../src/model/fields/form.ts'

const about = 'A field.'

test.for<[what: string, field: Field<unknown>, example: unknown]>([
  ['a text', text({ max: 10, about }), ''],
  ['a text with a default', text({ max: 10, fallback: 'none', about }), 'none'],
  ['a whole number', integer({ min: 0, max: 9, about }), 0],
  ['a truth value', flag({ about }), false],
  ['a choice', choice(['mp3', 'ogg'], { about }), 'mp3']
])('the example of %s', ([, field, example]) => {
  expect(fieldExample(field)).toBe(example)
})

test('a body requires the fields without a default, unless it is partial', () => {
  const fields = { name: text({ max: 10, about }), size: integer({ min: 0, max: 9, fallback: 3, about }) }
  expect(bodySchema(fields)).toMatchObject({ required: ['name'], examples: [{ name: '', size: 3 }] })
  expect(bodySchema(fields, { isPartial: true })).not.toHaveProperty('required')
})
