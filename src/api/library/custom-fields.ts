import * as v from 'valibot'

import { validatedField, formatCheckMessage, textField } from '../../model/fields/field.ts'
import { fieldError, type FieldError } from '../../platform/runtime/errors.ts'
import { unstorablePattern } from '../../platform/text/foreign-text.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { defineResource, type ResourceHooks } from '../core/resource.ts'

/** Metadata that operators define for the songs of all stations. */
export const customFieldsResource = defineResource({
  name: 'CustomField',
  title: 'custom field',
  tag: 'Custom fields',
  table: 'custom_fields',
  paths: { list: '/api/admin/custom_fields', one: '/api/admin/custom_field/:id' },
  access: { read: 'view administration', write: 'administer custom fields' },
  fields: {
    name: textField({ min: 1, max: 255, isTrimmed: true, about: 'Shown to operators.', example: 'Mood' }),
    short_name: textField({
      max: 100,
      fallback: '',
      pattern: /^[A-Za-z0-9_.-]+$/,
      says: 'may contain only letters, digits, _, . and -.',
      about: 'The name in the API, unique regardless of case; derived from name if empty.',
      example: 'mood'
    }),
    auto_assign: textField({
      max: 100,
      fallback: '',
      isTrimmed: true,
      about:
        'The tag of audio files from which imports, uploads and reading tags again take the value, unless a person set it; empty: none. A name that all formats know (album_artist, bpm, composer, year, ...), or that of a tag.',
      example: 'mood'
    })
  },
  label: 'name',
  search: ['name', 'short_name'],
  sort: ['id', 'name', 'short_name'],
  order: 'name',
  unique: { custom_fields_short_name: 'short_name' },
  publishes: 'all stations'
})

const hooks: ResourceHooks<typeof customFieldsResource.fields> = {
  async beforeWrite({ tx, before, values }) {
    if (values === null) return []
    if (values.short_name in Object.prototype)
      return [fieldError('short_name', 'invalid_format', 'cannot be used: JavaScript reserves this name.')]
    if (values.short_name !== '') return []
    // Fields created at the same time must not get the same name.
    await tx`select pg_advisory_xact_lock(hashtext('cuewire custom fields'))`
    values.short_name = await findFreeName(tx, toShortName(values.name), before?.id ?? 0)
    return []
  }
}

/**
 * Removes accents, converts to lower case, replaces whitespace by `_` and removes characters not allowed in a short
 * name.
 */
function toShortName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\s+/g, '_')
    .replace(/[^a-z0-9_.-]/g, '')
    .slice(0, 80)
  return /^\d*$/.test(plain) || plain in Object.prototype ? `custom_field_${plain}` : plain
}

/** Returns the name, or the first of `name_2`, `name_3`, ... that no other field has. */
async function findFreeName(tx: Tx, name: string, ownId: number): Promise<string> {
  const rows = await tx<{ name: string }[]>`
    select lower(short_name) as name from custom_fields where id <> ${ownId} and starts_with(lower(short_name), ${name})`
  const taken = new Set(rows.map(row => row.name))
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name}_${number}`)) number++
  return `${name}_${number}`
}

export const customFieldRoutes = resourceRoutes(customFieldsResource, hooks)

/** Values of custom fields by short name; `""` if a song has no value. */
type CustomFieldValues = Readonly<Record<string, string>>

const maxValues = 1_000
const maxValueLength = 2_000

/** Not a `v.record`, which ignores the key `constructor`; a custom field may have this name. */
const input = v.pipe(
  v.unknown(),
  v.check(
    value => typeof value === 'object' && value !== null && !Array.isArray(value),
    formatCheckMessage('invalid_type', 'must be an object.')
  ),
  v.transform(value => Object.entries(Object(value))),
  v.maxLength(maxValues, formatCheckMessage('too_long', `must have at most ${maxValues} members.`)),
  v.rawTransform<[string, unknown][], CustomFieldValues>(({ dataset, addIssue, NEVER }) => {
    const values = dataset.value.map(([name, value]): [string, string] => {
      const message = findProblem(value)
      const key = name.slice(0, 100)
      const path: v.ObjectPathItem = { type: 'object', origin: 'value', input: {}, key, value }
      if (message !== null) addIssue({ message, path: [path] })
      return [name, typeof value === 'string' ? value : '']
    })
    return dataset.issues ? NEVER : Object.fromEntries(values)
  })
)

function findProblem(value: unknown): string | null {
  if (value === null) return null
  if (typeof value !== 'string') return formatCheckMessage('invalid_type', 'must be text.')
  if (value.length > maxValueLength)
    return formatCheckMessage('too_long', `must have at most ${maxValueLength} characters.`)
  if (unstorablePattern.test(value))
    return formatCheckMessage('invalid_format', 'contains characters that are not allowed.')
  return null
}

export const customFieldValuesField = validatedField<CustomFieldValues>(input, {
  fallback: {},
  schema: { type: 'object', additionalProperties: { type: 'string', maxLength: maxValueLength } },
  about: 'Values by short name. Absent values are kept; "" and null clear a value.',
  example: { mood: 'calm' }
})

/** Returns a problem for each name that no custom field has. */
export async function findUnknownCustomFields(tx: Tx, values: CustomFieldValues): Promise<FieldError[]> {
  const names = Object.keys(values)
  if (names.length === 0) return []
  const rows = await tx<{ name: string }[]>`select short_name as name from custom_fields`
  const known = new Set(rows.map(({ name }) => name))
  return names
    .filter(name => !known.has(name))
    .map(name => fieldError(`custom_fields.${name.slice(0, 100)}`, 'unknown_key', 'is not a custom field.'))
}

/** Writes the values of a song that changed. An empty value remains, so that no import sets one again. */
export async function updateCustomFieldValues(
  tx: Tx,
  mediaId: number,
  before: CustomFieldValues,
  after: CustomFieldValues
): Promise<void> {
  const stored = new Map(Object.entries(before))
  const changed = Object.entries(after).filter(([name, value]) => value !== (stored.get(name) ?? ''))
  if (changed.length === 0) return
  const names = changed.map(([name]) => name)
  await tx`
    delete from media_custom_fields x using custom_fields f
    where x.media_id = ${mediaId} and x.field_id = f.id and f.short_name = any(${names}::text[])`
  await tx`
    insert into media_custom_fields (media_id, field_id, value)
    select ${mediaId}::bigint, f.id, new.value
    from unnest(${names}::text[], ${changed.map(([, value]) => value)}::text[]) as new (name, value)
    join custom_fields f on f.short_name = new.name`
}
