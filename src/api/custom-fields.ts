import type { Tx } from '../db/sql.ts'
import { text } from '../fields/field.ts'
import { resourceRoutes } from './resource-routes.ts'
import { type Rules, resource } from './resource.ts'

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

const rules: Rules<typeof customFields.fields> = {
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
