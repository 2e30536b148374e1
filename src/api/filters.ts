import type { Fields, JsonSchema, ValuesOf } from '../fields/field.ts'
import { changesOf } from '../fields/form.ts'
import { parseBody } from './parse.ts'

/** Query parameters that narrow a list: what a query asks for, and their schemas. */
export interface Filters<F extends Fields> {
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
