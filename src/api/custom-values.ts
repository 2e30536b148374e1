import * as v from 'valibot'

import type { Tx } from '../db/sql.ts'
import type { FieldError } from '../errors.ts'
import { custom, problem } from '../fields/field.ts'

/** Values of custom fields by short name; `""` where a field has none. */
export type CustomValues = Readonly<Record<string, string>>

const most = 1_000
const longest = 2_000

/** Any name is a key here: a record schema would pass over `constructor`, which a custom field may be called. */
const accepted = v.pipe(
  v.unknown(),
  v.check(
    value => typeof value === 'object' && value !== null && !Array.isArray(value),
    problem('invalid_type', 'must be an object.')
  ),
  v.transform(value => Object.entries(Object(value))),
  v.maxLength(most, problem('too_long', `must have at most ${most} members.`)),
  v.rawTransform<[string, unknown][], CustomValues>(({ dataset, addIssue, NEVER }) => {
    const values = dataset.value.map(([name, value]): [string, string] => {
      const says = problemOf(value)
      if (says !== null) addIssue({ message: says, path: [pathItem(name, value)] })
      return [name, typeof value === 'string' ? value : '']
    })
    return dataset.issues ? NEVER : Object.fromEntries(values)
  })
)

const pathItem = (key: string, value: unknown): v.ObjectPathItem => ({
  type: 'object',
  origin: 'value',
  input: {},
  key: key.slice(0, 100),
  value
})

function problemOf(value: unknown): string | null {
  if (value === null) return null
  if (typeof value !== 'string') return problem('invalid_type', 'must be text.')
  if (value.length > longest) return problem('too_long', `must have at most ${longest} characters.`)
  return /\0|\p{Surrogate}/u.test(value)
    ? problem('invalid_format', 'holds characters that are not allowed.')
    : null
}

/** The field of a song for these values. */
export const customValues = custom<CustomValues>(accepted, {
  fallback: {},
  schema: { type: 'object', additionalProperties: { type: 'string', maxLength: longest } },
  about: 'Values of the custom fields by short name; what a body leaves out stays, "" and null clear.',
  example: { mood: 'calm' }
})

/** A problem for each name that no custom field has. */
export async function unknownFields(tx: Tx, values: CustomValues): Promise<FieldError[]> {
  const names = Object.keys(values)
  if (names.length === 0) return []
  const rows = await tx<{ name: string }[]>`select short_name as name from custom_fields`
  const known = new Set(rows.map(({ name }) => name))
  return names
    .filter(name => !known.has(name))
    .map(name => {
      const field = `custom_fields.${name.slice(0, 100)}`
      return { field, code: 'unknown_key', message: `${field} is no custom field.` }
    })
}

/** Writes the values of a song that are other ones than before. */
export async function changeCustomValues(
  tx: Tx,
  mediaId: number,
  before: CustomValues,
  after: CustomValues
): Promise<void> {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== (Object.hasOwn(before, name) ? before[name] : '')
  )
  if (changed.length === 0) return
  const names = changed.map(([name]) => name)
  await tx`
    delete from media_custom_fields x using custom_fields f
    where x.media_id = ${mediaId} and x.field_id = f.id and f.short_name = any(${names}::text[])`
  await tx`
    insert into media_custom_fields (media_id, field_id, value)
    select ${mediaId}::bigint, f.id, new.value
    from unnest(${names}::text[], ${changed.map(([, value]) => value)}::text[]) as new (name, value)
    join custom_fields f on f.short_name = new.name
    where new.value <> ''`
}
