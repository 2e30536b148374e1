import { describe, expect } from 'vitest'

import { toColumnName } from '../../src/model/fields/field.ts'
import { sealedColumns } from '../../src/upkeep/archives/sealed-values.ts'
import { test } from '../support/fixtures.ts'
import { resources } from '../support/resources.ts'

/** The types of Postgres for each JSON type. */
const kept: Record<string, string[]> = {
  string: ['text', 'numeric'],
  integer: ['integer', 'bigint'],
  number: ['double precision'],
  boolean: ['boolean'],
  array: ['jsonb'],
  object: ['jsonb']
}

describe.for(resources.map(resource => [resource.table, resource] as const))(
  'the table %s',
  ([table, resource]) => {
    test('has a column of the right type for each stored field', async ({ sql }) => {
      const columns = await sql<{ name: string; type: string }[]>`
      select column_name as name, data_type as type
      from information_schema.columns where table_name = ${table} and table_schema = 'public'`
      const stored = Object.entries(resource.fields).filter(([, field]) => field.isStored)
      expect(stored.length).toBeGreaterThan(0)
      const found = stored.map(([name, field]) => {
        const column = columns.find(each => each.name === toColumnName(name))
        const isRight = kept[String(field.schema['type'])]?.includes(column?.type ?? '') ?? false
        return { name, isThere: column !== undefined, isRight }
      })
      expect(found).toEqual(stored.map(([name]) => ({ name, isThere: true, isRight: true })))
    })

    test('belongs to a station if and only if its path has one', async ({ sql }) => {
      const [column] = await sql`
      select from information_schema.columns
      where table_name = ${table} and table_schema = 'public' and column_name = 'station_id'`
      expect(column !== undefined).toBe(resource.paths.list.includes(':station_id'))
    })
  }
)

test('every declared constraint exists', async ({ sql }) => {
  const names = resources.flatMap(({ unique = {} }) => Object.keys(unique))
  const rows = await sql<
    { name: string }[]
  >`select indexname as name from pg_indexes where schemaname = 'public'`
  expect(rows.map(row => row.name)).toEqual(expect.arrayContaining(names))
})

test('every sealed field is a column whose credentials can be removed', () => {
  const sealed = resources.flatMap(({ table, fields }) =>
    Object.entries(fields)
      .filter(([, { kind, isStored, isHashed }]) => kind === 'secret' && isStored && !isHashed)
      .map(([name]) => `${table}.${toColumnName(name)}`)
  )
  const removed = Object.entries(sealedColumns).flatMap(([table, columns]) =>
    columns.map(column => `${table}.${column}`)
  )
  expect(removed.toSorted()).toEqual([...new Set(sealed)].toSorted())
})
