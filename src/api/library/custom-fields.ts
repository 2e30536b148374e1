import * as v from 'valibot'

import type { Tx } from '../../db/sql.ts'
import { custom, problem, text } from '../../fields/field.ts'
import type { FieldError } from '../../runtime/errors.ts'
import { resourceRoutes } from '../core/resource-routes.ts'
import { resource, type ResourceRules } from '../core/resource.ts'

/** Metadata that operators define for the songs of all stations. */
export const customFields = resource({
  name: 'CustomField',
  title: 'custom field',
  tag: 'Custom fields',
  table: 'custom_fields',
  paths: { list: '/api/admin/custom_fields', one: '/api/admin/custom_field/:id' },
  access: { read: 'view administration', write: 'administer custom fields' },
  fields: {
    name: text({ min: 1, max: 255, isTrimmed: true, about: 'What operators read.', example: 'Mood' }),
    short_name: text({
      max: 100,
      fallback: '',
      pattern: /^[A-Za-z0-9_.-]+$/,
      says: 'may hold letters, digits and _ . - only.',
      about: 'What programs call it, unique in any case; made from the name when empty.',
      example: 'mood'
    }),
    auto_assign: text({
      max: 100,
      fallback: '',
      isTrimmed: true,
      about: 'The tag of audio files that an import takes the value from; empty: none.',
      example: 'mood'
    })
  },
  search: ['name', 'short_name'],
  sort: ['id', 'name', 'short_name'],
  order: 'name',
  unique: { custom_fields_short_name: 'short_name' },
  shows: 'everywhere'
})

const rules: ResourceRules<typeof customFields.fields> = {
  async prepare({ tx, before, values }) {
    if (values.short_name !== '') return []
    // Two that are made at once must not get one name.
    await tx`select pg_advisory_xact_lock(hashtext('cuewire custom fields'))`
    values.short_name = await freeName(tx, shortNameOf(values.name), before?.id ?? 0)
    return []
  }
}

/** Lower case, blanks to `_`, and of the rest only what a short name may hold. */
function shortNameOf(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/\s+/g, '_')
    .replace(/[^a-z0-9_.-]/g, '')
    .slice(0, 80)
  return /^\d*$/.test(plain) ? `custom_field_${plain}` : plain
}

/** The name, or the first of `name_2`, `name_3`, ... that no other field has. */
async function freeName(tx: Tx, name: string, ownId: number): Promise<string> {
  const rows = await tx<{ name: string }[]>`
    select lower(short_name) as name from custom_fields where id <> ${ownId} and starts_with(lower(short_name), ${name})`
  const taken = new Set(rows.map(row => row.name))
  if (!taken.has(name)) return name
  let number = 2
  while (taken.has(`${name}_${number}`)) number++
  return `${name}_${number}`
}

export const customFieldRoutes = resourceRoutes(customFields, rules)

/** Values of custom fields by short name; `""` where a field has none. */
type CustomValues = Readonly<Record<string, string>>

const most = 1_000
const longest = 2_000

/**
 * Any name is a key here: a record schema would pass over `constructor`, which a custom field may be called.
 */
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
