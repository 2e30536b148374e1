import { expect, test } from 'vitest'

import {
  choiceField,
  type Field,
  flagField,
  integerField,
  textField
} from '../../../../src/model/fields/field.ts'
import { bodySchema, exampleOfField } from '../../../../src/model/fields/validators.ts'

const about = 'A field.'

test.for<[what: string, field: Field<unknown>, example: unknown]>([
  ['a text', textField({ max: 10, about }), ''],
  ['a text with a default', textField({ max: 10, fallback: 'none', about }), 'none'],
  ['a whole number', integerField({ min: 0, max: 9, about }), 0],
  ['a truth value', flagField({ about }), false],
  ['a choice', choiceField(['mp3', 'ogg'], { about }), 'mp3']
])('the example of %s', ([, field, example]) => {
  expect(exampleOfField(field)).toBe(example)
})

test('a body requires the fields without a default, unless it is partial', () => {
  const fields = {
    name: textField({ max: 10, about }),
    size: integerField({ min: 0, max: 9, fallback: 3, about })
  }
  expect(bodySchema(fields)).toMatchObject({ required: ['name'], examples: [{ name: '', size: 3 }] })
  expect(bodySchema(fields, { isPartial: true })).not.toHaveProperty('required')
})
