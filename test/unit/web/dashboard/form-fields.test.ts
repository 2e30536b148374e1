import * as v from 'valibot'
import { expect, test } from 'vitest'

import {
  choiceField,
  validatedField,
  fixedField,
  flagField,
  integerField,
  listField,
  secretField,
  textField,
  webAddressField
} from '../../../../src/model/fields/field.ts'
import { namedValuesField } from '../../../../src/model/fields/named-values.ts'
import { bodySchema as renderBodySchema } from '../../../../src/model/fields/validators.ts'
import { describeProblem } from '../../../../web/dashboard/api/api-error.ts'
import { findFieldOfProblem } from '../../../../web/dashboard/forms/field-problems.ts'
import {
  type PropertySchema,
  toFormFields,
  toFieldLabel
} from '../../../../web/dashboard/forms/form-field.ts'
import {
  initialFormValues,
  pairsToText,
  textToPairs,
  toRequestBody
} from '../../../../web/dashboard/forms/form-values.ts'

const schema = renderBodySchema({
  name: textField({ min: 1, max: 100, about: 'The name.', example: 'Main' }),
  type: fixedField(choiceField(['mp3', 'ogg'], { about: 'The format.' })),
  is_enabled: flagField({ fallback: true, about: 'Whether it plays.' }),
  bitrate: integerField({ min: 0, max: 320, fallback: 128, about: 'kbit/s.' }),
  listenUrl: webAddressField({ max: 255, about: 'The address.' }),
  admin_password: secretField({ max: 255, about: 'The password.' }),
  privateKey: secretField({ max: 16_384, isLong: true, about: 'The key.' }),
  comments: textField({ max: 2_000, fallback: '', isLong: true, about: 'Notes.' }),
  triggers: listField(v.picklist(['a', 'b']), {
    max: 5,
    items: { type: 'string', enum: ['a', 'b'] },
    about: ''
  }),
  tags: listField(v.string(), { max: 5, items: { type: 'string' }, about: '' }),
  config: namedValuesField({ max: 5, about: 'Settings.' }),
  items: validatedField<object>(
    v.custom<object>(() => true),
    { fallback: {}, schema: { type: 'object' }, about: '' }
  )
})
const body: PropertySchema = Object(schema)
const fields = toFormFields(body)
const fieldNamed = (name: string) => fields.find(field => field.name === name)

test('each kind of property gets its field; those that need their own editor get none', () => {
  expect(Object.fromEntries(fields.map(({ name, kind }) => [name, kind]))).toEqual({
    name: 'text',
    type: 'select',
    is_enabled: 'switch',
    bitrate: 'number',
    listenUrl: 'url',
    admin_password: 'secret',
    privateKey: 'long-secret',
    comments: 'long-text',
    triggers: 'choices',
    tags: 'lines',
    config: 'pairs'
  })
  expect(fieldNamed('name')).toMatchObject({
    isRequired: true,
    placeholder: 'Main',
    description: 'The name.'
  })
  expect(fieldNamed('type')).toMatchObject({ isFixed: true, fallback: 'mp3' })
  expect(fieldNamed('bitrate')).toMatchObject({ min: 0, max: 320, fallback: 128 })
  expect(fieldNamed('admin_password')).toMatchObject({ description: 'The password.', isRemovable: true })
  expect(['is_enabled', 's3Endpoint', 'enable_autodj', 'listenUrl'].map(toFieldLabel)).toEqual([
    'Enabled',
    'S3 endpoint',
    'Enable AutoDJ',
    'Listen URL'
  ])
})

test('a new record has the required fields and what differs from the defaults', () => {
  const start = initialFormValues(fields, null)
  expect(toRequestBody(fields, start, null)).toEqual({ name: '', type: 'mp3' })
  expect(toRequestBody(fields, { ...start, name: 'Main', bitrate: '64', triggers: ['a'] }, null)).toEqual({
    name: 'Main',
    type: 'mp3',
    bitrate: 64,
    triggers: ['a']
  })
})

test('a change has only what was changed; a secret is kept unless one is entered', () => {
  const record = {
    name: 'Main',
    type: 'ogg',
    is_enabled: false,
    bitrate: 128,
    admin_password: '',
    comments: 'x'
  }
  const start = initialFormValues(fields, record)
  expect(toRequestBody(fields, start, start)).toEqual({})
  expect(toRequestBody(fields, { ...start, type: 'mp3', bitrate: '', admin_password: 'new' }, start)).toEqual(
    {
      bitrate: null,
      admin_password: 'new'
    }
  )
  expect(toRequestBody(fields, { ...start, bitrate: 'many' }, start)).toEqual({ bitrate: 'many' })
  expect(toRequestBody(fields, { ...start, admin_password: null }, start)).toEqual({ admin_password: null })
})

test('members of an object are edited as fields of their own', () => {
  const [field] = toFormFields({ properties: { url: body.properties?.['name'] ?? never() } }, 'config.')
  const members = field ? [field] : []
  const start = initialFormValues(members, { config: [{ key: 'url', value: 'https://a' }] })
  expect(start).toEqual({ 'config.url': 'https://a' })
  expect(toRequestBody(members, { 'config.url': 'https://b' }, start)).toEqual({
    config: { url: 'https://b' }
  })
})

test('a problem belongs to the field with its path or the start of it, and names it as the form does', () => {
  expect(findFieldOfProblem(fields, 'triggers.0')?.name).toBe('triggers')
  expect(findFieldOfProblem(fields, 'unknown.0')).toBeUndefined()
  const url = findFieldOfProblem(fields, 'listenUrl')
  expect(
    url && describeProblem(url.label, { field: 'listenUrl', message: 'listenUrl must not be empty.' })
  ).toBe('Listen URL must not be empty.')
})

test('named values are lines of text', () => {
  const pairs = [
    { key: 'a', value: '1=2' },
    { key: 'b', value: '' }
  ]
  expect(pairsToText(pairs)).toBe('a=1=2\nb=')
  expect(textToPairs('a = 1=2\n\n b')).toEqual(pairs)
})

function never(): never {
  throw new Error('the schema has no such property')
}
