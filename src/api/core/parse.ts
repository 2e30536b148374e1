import * as v from 'valibot'

import type { Sql } from '../../db/sql.ts'
import type { Fields, JsonSchema, ValuesOf } from '../../fields/field.ts'
import { changesOf } from '../../fields/form.ts'
import { problemsOf } from '../../fields/form.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { StationRow } from './route.ts'

/** Checks a body against its schema. Throws a 400 that names every field with its first problem. */
export function parseBody<const T extends v.GenericSchema>(schema: T, body: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, body === undefined ? {} : body, { abortPipeEarly: true })
  if (result.success) return result.output
  const [first, ...others] = problemsOf(result.issues)
  if (!first) throw new ApiError('invalid')
  throw ApiError.ofFields([first, ...others])
}

/** An id out of a path. Throws 404 for anything but an int64 as it is written: `007` is none. */
export function parseId(text: string | undefined): number {
  const id = /^(0|[1-9]\d{0,18})$/.test(text ?? '') ? Number(text) : NaN
  if (!Number.isSafeInteger(id)) throw new ApiError('not-found')
  return id
}

/** The station of an id (all digits) or short name; null if there is none. Takes as long in both cases. */
export async function findStation(
  sql: Sql,
  name: string
): Promise<(StationRow & { readonly isPublic: boolean }) | null> {
  const id = /^(0|[1-9]\d{0,15})$/.test(name) ? Number(name) : null
  // Postgres refuses NUL. Short names are never all digits.
  const shortName = name.includes('\0') || id !== null ? '' : name
  const [station] = await sql<(StationRow & { isPublic: boolean })[]>`
    select id, short_name as "shortName", is_public as "isPublic" from stations
    where ${id === null ? sql`short_name = ${shortName}` : sql`id = ${id}`} and deleted_at is null`
  return station ?? null
}

/** A whole number of a query, `fallback` where it is not there. Throws a 400 that names the parameter. */
export function wholeNumber(
  query: URLSearchParams,
  name: string,
  { least, most, fallback }: { least: number; most: number; fallback: number }
): number {
  const text = query.get(name)
  if (text === null || text === '') return fallback
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (value >= least && value <= most) return value
  const message = `${name} must be a whole number from ${least} to ${most}.`
  throw ApiError.ofFields([{ field: name, code: 'out_of_range', message }])
}

/** Query parameters that narrow a list: what a query asks for, and their schemas. */
interface Filters<F extends Fields> {
  /** Throws a 400 that names the parameter. An empty parameter counts as none. */
  readonly parse: (query: URLSearchParams) => Partial<ValuesOf<F>>
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** The filters by these fields; a parameter is named after its field. */
export function filtersOf<F extends Fields>(fields: F): Filters<F> {
  const form = changesOf(fields)
  return {
    parse: query => {
      const named = [...query].filter(([name, value]) => value !== '' && Object.hasOwn(fields, name))
      return parseBody(form, Object.fromEntries(named))
    },
    schemas: Object.fromEntries(
      Object.entries(fields).map(([name, { schema }]) => [name, withoutDefault(schema)])
    )
  }
}

function withoutDefault({ default: _default, ...schema }: JsonSchema): JsonSchema {
  return schema
}
