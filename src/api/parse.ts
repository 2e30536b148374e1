import * as v from 'valibot'

import type { Sql } from '../db/sql.ts'
import { ApiError, type FieldError } from '../errors.ts'
import type { StationRow } from './route.ts'

/** A problem's code word: that of the schema's own check, else what kind of problem it is. */
const codes: Record<string, string> = {
  min_value: 'out_of_range',
  max_value: 'out_of_range',
  min_length: 'too_short',
  max_length: 'too_long',
  picklist: 'not_in_enum',
  partial_check: 'out_of_range',
  raw_check: 'required'
}

/** Checks a body against its schema. Throws a 400 that names every field with its first problem. */
export function parseBody<const T extends v.GenericSchema>(schema: T, body: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, body ?? {}, { abortPipeEarly: true })
  if (result.success) return result.output
  const [first, ...others] = result.issues.map((issue): FieldError => {
    const field = v.getDotPath(issue) ?? ''
    const isMissing = (issue.input === undefined || issue.input === null) && issue.kind === 'schema'
    const [, said, sentence] = /^([a-z_]+): (.*)$/s.exec(issue.message) ?? []
    const code = isMissing ? 'required' : (said ?? codes[issue.type] ?? 'invalid_type')
    const reason = isMissing ? 'is required.' : (sentence ?? issue.message)
    return { field, code, message: field === '' ? `The body ${reason}` : `${field} ${reason}` }
  })
  if (!first) throw new ApiError('invalid')
  throw ApiError.ofFields([first, ...others])
}

/** An id out of a path. Throws 404 for anything but an int64 as it is written: `007` is none. */
export function parseId(text: string | undefined): number {
  const id = /^(0|[1-9]\d{0,18})$/.test(text ?? '') ? Number(text) : NaN
  if (!Number.isSafeInteger(id)) throw new ApiError('not-found')
  return id
}

/** The station a path names, by id (all digits) or short name. Throws 404. */
export async function findStation(sql: Sql, key: string | undefined): Promise<StationRow> {
  const text = key ?? ''
  // Postgres refuses the character.
  if (text.includes('\0')) throw new ApiError('not-found')
  const isId = /^\d+$/.test(text)
  const [station] = await sql<StationRow[]>`
    select id, short_name as "shortName" from stations
    where ${isId ? sql`id = ${parseId(text)}` : sql`short_name = ${text}`}`
  if (!station) throw new ApiError('not-found')
  return station
}
