import { expect, test } from 'vitest'

import { ApiRequestError } from '../../../../web/dashboard/api/api-error.ts'
import { splitProblemsByField } from '../../../../web/dashboard/forms/field-problems.ts'
import { openFormEdits } from '../../../../web/dashboard/forms/form-edits.ts'

const first = { name: 'Main', bitrate: 128, triggers: ['a'] }

/** Edits of a record that others may change. */
function open() {
  let stored = first
  const edits = openFormEdits(() => stored)
  return { edits, store: (changes: Partial<typeof first>) => (stored = { ...stored, ...changes }) }
}

test('an edited field keeps its value while others follow what is stored', () => {
  const { edits, store } = open()
  edits.set('name', 'Mine')
  store({ name: 'Theirs', bitrate: 192 })
  expect(edits.values).toEqual({ name: 'Mine', bitrate: 192, triggers: ['a'] })
  expect(edits.changes).toEqual({ name: 'Mine' })
})

test('a field that is set back is not changed', () => {
  const { edits } = open()
  edits.set('triggers', ['a', 'b'])
  edits.set('triggers', ['a'])
  expect(edits.changes).toEqual({})
})

test('a field that the form does not show keeps its edit, but is not saved', () => {
  let start: Readonly<Record<string, unknown>> = { type: 'a', url: '' }
  const edits = openFormEdits(() => start)
  edits.set('url', 'https://a')
  start = { type: 'b' }
  expect(edits.changes).toEqual({})
  start = { type: 'a', url: '' }
  expect(edits.changes).toEqual({ url: 'https://a' })
})

test('only edited fields that someone else has changed are conflicts', () => {
  const { edits, store } = open()
  edits.set('bitrate', 96)
  edits.set('triggers', [])
  store({ bitrate: 192 })
  expect(edits.listConflicts({ name: 'Other', bitrate: 192, triggers: ['a'] })).toEqual(['bitrate'])
  expect(edits.listConflicts(first)).toEqual([])
  expect(edits.listConflicts({ triggers: ['a'] })).toEqual([])
})

test('what is edited while a form is saved stays, and goes on from the stored value', () => {
  const { edits, store } = open()
  edits.set('name', 'Mine')
  edits.set('bitrate', 96)
  edits.send()
  edits.set('name', 'Mine, again')
  store({ name: 'Mine', bitrate: 96 })
  edits.forgetSaved()
  expect(edits.changes).toEqual({ name: 'Mine, again' })
  expect(edits.listConflicts({ name: 'Mine' })).toEqual([])
})

test('problems of fields that a form does not show are those of the form', () => {
  const error = new ApiRequestError('name must not be empty.', 400, false, [
    { field: 'name', message: 'name must not be empty.' },
    { field: 'name', message: 'name must be short.' },
    { field: 'roles.0', message: 'roles.0 does not exist.' },
    { field: 'color', message: 'color must be a color.' }
  ])
  const fields = [
    { name: 'name', label: 'Name (optional)' },
    { name: 'roles', label: 'Roles' }
  ]
  const { ofFields, rest } = splitProblemsByField(error, fields)
  expect(Object.fromEntries(ofFields)).toEqual({
    name: 'Name must not be empty.',
    roles: 'Roles does not exist.'
  })
  expect(rest).toBe('color must be a color.')
  expect(splitProblemsByField(new ApiRequestError('The server cannot be reached.'), fields).rest).toBe(
    'The server cannot be reached.'
  )
})
