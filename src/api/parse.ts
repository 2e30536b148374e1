import * as v from 'valibot'

import type { Sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { problemsOf } from '../fields/problems.ts'
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
