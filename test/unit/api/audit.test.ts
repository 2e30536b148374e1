import * as fc from 'fast-check'
import { expect, test } from 'vitest'

import {
  toAuditedChanges,
  toAuditedName,
  changedWithoutValues,
  redactAuditedChanges
} from '../../../src/api/core/audit.ts'
import {
  integerField,
  maskedAddressField,
  readOnlyField,
  secretField,
  textField,
  unauditedField
} from '../../../src/model/fields/field.ts'

const about = { about: '' }
const fields = {
  name: textField({ max: 100, fallback: '', ...about }),
  weight: integerField({ min: 0, max: 9, fallback: 3, ...about }),
  password: secretField({ max: 100, ...about }),
  url: maskedAddressField(textField({ max: 100, fallback: '', ...about })),
  link: textField({ max: 100, fallback: '', ...about }),
  settings: unauditedField(textField({ max: 100, fallback: '', ...about })),
  size: readOnlyField({ schema: {}, ...about })
}
const record = { name: '', weight: 3, password: '', url: '', link: '', settings: '', size: 1 }

test('an update has the values before and after of the fields that differ', () => {
  expect(toAuditedChanges(fields, record, { ...record, weight: 7, size: 2 })).toEqual({
    weight: { from: 3, to: 7 }
  })
})

test('a creation has values after it, a deletion values before it, except the defaults', () => {
  const named = { ...record, name: 'Nights', password: 'sealed' }
  expect(toAuditedChanges(fields, null, named)).toEqual({ name: { to: 'Nights' }, password: 'changed' })
  expect(toAuditedChanges(fields, named, null)).toEqual({ name: { from: 'Nights' } })
})

test('secrets, and what may contain secrets, are only changed', () => {
  const values = { ...record, password: 'sealed', settings: 'token' }
  expect(toAuditedChanges(fields, record, values)).toEqual(changedWithoutValues('password', 'settings'))
})

test('addresses lose what may be a token, and are only changed if the rest is the same', () => {
  const before = { ...record, url: 'https://a.example/old', link: 'https://user:pass@a.example/path?key=1#x' }
  const stored = (after: object) =>
    redactAuditedChanges(toAuditedChanges(fields, before, { ...before, ...after }))
  expect(stored({ url: 'https://a.example/new' })).toEqual(changedWithoutValues('url'))
  expect(stored({ url: 'https://b.example/old', link: 'https://b.example/path' })).toEqual({
    url: { from: 'https://a.example/…', to: 'https://b.example/…' },
    link: { from: 'https://a.example/path?…', to: 'https://b.example/path' }
  })
})

test('API keys are cut to their first half, also inside of lists', () => {
  const key = `${'ab'.repeat(8)}:${'cd'.repeat(16)}`
  expect(toAuditedName(`by ${key}`)).toBe(`by ${'ab'.repeat(8)}`)
  const { link } = redactAuditedChanges({ link: { from: '', to: [{ note: key }] } })
  expect(link).toEqual({ from: '', to: [{ note: 'ab'.repeat(8) }] })
})

test('all changes together take at most 8 KiB, and are well-formed text', () => {
  const value = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 30_000, size: 'max' }), fc.jsonValue())
  const changes = fc.dictionary(
    fc.stringMatching(/^[a-z_]{1,40}$/),
    fc.oneof(fc.constant('changed' as const), fc.record({ from: value, to: value })),
    { maxKeys: 60 }
  )
  fc.assert(
    fc.property(changes, given => {
      const stored = JSON.stringify(redactAuditedChanges(given))
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(8_192)
      expect(Object.keys(JSON.parse(stored))).toEqual(Object.keys(given))
      expect(stored.includes('\\ud')).toBe(false)
    }),
    { numRuns: 50 }
  )
})

test('characters that cannot be stored are left out', () => {
  expect(redactAuditedChanges({ path: { from: 'a\uFFFD.mp3', to: ['b\uD800.mp3'] } })).toEqual({
    path: { from: 'a.mp3', to: ['b.mp3'] }
  })
})

test('a shortened value ends with an ellipsis; short ones are kept', () => {
  const [from, to] = ['x'.repeat(20_000), ['y'.repeat(3_000)]]
  const limited = redactAuditedChanges({ body: { from, to }, title: { to: 'Short' } })
  expect(limited['title']).toEqual({ to: 'Short' })
  expect(limited['body']).toEqual({ from: `${'x'.repeat(2_000)}…`, to: `["${'y'.repeat(1_998)}…` })
})
