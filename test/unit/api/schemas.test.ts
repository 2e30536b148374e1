import { expect, test } from 'vitest'

import { exactObject, oneOfObjects } from '../../../src/api/core/schemas.ts'

const name = { type: 'string' } as const
const size = { type: 'integer' } as const

test('the schema of an exact object requires its members and forbids all others', () => {
  expect(exactObject({ name, size })).toEqual({
    type: 'object',
    properties: { name, size },
    required: ['name', 'size'],
    additionalProperties: false
  })
})

test('an alternative requires its own property and the common ones', () => {
  expect(oneOfObjects({ name }, { size }, { note: name })).toEqual({
    oneOf: [{ type: 'object', properties: { size, note: name, name }, required: ['size', 'name'] }]
  })
})
