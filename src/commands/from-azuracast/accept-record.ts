import * as v from 'valibot'

import { toColumnName, type Fields, sealingPurpose } from '../../model/fields/field.ts'
import { bodyValidator, toFieldErrors } from '../../model/fields/validators.ts'
import type { Secrets } from '../../stores/secrets/secrets.ts'
import type { RowToInsert } from './insert-rows.ts'

interface RecordForm {
  readonly table: string
  readonly fields: Fields
}

/**
 * Validates a record like a body of the REST API, and returns its row with secrets sealed. A value that is not accepted
 * gets its default and is passed to `onProblem`. Returns null if that is a required one.
 */
export function toValidRow(
  { table, fields }: RecordForm,
  body: Readonly<Record<string, unknown>>,
  secrets: Pick<Secrets, 'seal'>,
  onProblem: (problem: string) => void
): RowToInsert | null {
  const validator = bodyValidator(fields)
  const accepted = new Map(Object.entries(body))
  for (;;) {
    const result = v.safeParse(validator, Object.fromEntries(accepted))
    if (result.success) return rowOf(table, fields, result.output, secrets)
    const rejected = new Map(
      toFieldErrors(result.issues).map(({ field, message }) => [field.split('.')[0] ?? '', message])
    )
    for (const [field, message] of rejected) {
      const isOptional = fields[field]?.fallback !== undefined && accepted.delete(field)
      onProblem(isOptional ? `${message} The default applies.` : `${message} It is left out.`)
      if (!isOptional) return null
    }
  }
}

function rowOf(
  table: string,
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
  secrets: Pick<Secrets, 'seal'>
): RowToInsert {
  const row: Record<string, unknown> = {}
  for (const [name, { kind, isStored, isHashed }] of Object.entries(fields)) {
    const value = values[name]
    if (!isStored || kind === 'read-only' || value === undefined) continue
    const isSealed = kind === 'secret' && !isHashed && typeof value === 'string' && value !== ''
    row[toColumnName(name)] = isSealed ? secrets.seal(value, sealingPurpose(table, name)) : value
  }
  return row
}

/** The nearest number of a range. */
export const clamp = (value: number, min: number, max: number): number => Math.min(Math.max(value, min), max)

/** Returns a function like `clamp` for values of fields, which passes changes to `onProblem`. */
export const openReportingClamp =
  (onProblem: (problem: string) => void) =>
  (field: string, value: number, min: number, max: number): number => {
    const nearest = clamp(value, min, max)
    if (nearest !== value) onProblem(`${field} ${value} becomes ${nearest}.`)
    return nearest
  }
