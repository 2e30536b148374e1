import * as v from 'valibot'

import type { Fields, JsonSchema, ValuesOf } from '../../model/fields/field.ts'
import { changesValidator } from '../../model/fields/form.ts'
import { toFieldErrors } from '../../model/fields/form.ts'
import { shortNamePattern } from '../../model/station/short-name.ts'
import { checkForeignTarget, checkTarget, checkUrl, type UrlProblem } from '../../platform/outbound/guard.ts'
import { toNetworkList, parseUrl } from '../../platform/outbound/networks.ts'
import { ApiError, fieldError, type FieldError, refuseField } from '../../platform/runtime/errors.ts'
import { visitInTimeSlices } from '../../platform/runtime/time-slices.ts'
import { findByFormerNames } from '../../stores/db/former-names.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { StationRow } from './route.ts'
import type { ApiServices } from './services.ts'

/** Parses a body. Throws 400 with the first problem of every invalid field. */
export function parseBody<const T extends v.GenericSchema>(schema: T, body: unknown): v.InferOutput<T> {
  const result = v.safeParse(schema, body === undefined ? {} : body, { abortPipeEarly: true })
  if (result.success) return result.output
  const [first, ...others] = toFieldErrors(result.issues)
  throw first ? ApiError.ofFields([first, ...others]) : new ApiError('invalid')
}

const maxProblems = 100
const sliceMs = 8

/**
 * Parses the elements of a list that may be long, in time slices. Throws 400 with the first problems; `at` is the field
 * of the list, empty for a body.
 */
export async function parseElements<const T extends v.GenericSchema>(
  schema: T,
  elements: readonly unknown[],
  at: string
): Promise<v.InferOutput<T>[]> {
  const outputs: v.InferOutput<T>[] = []
  const problems: FieldError[] = []
  await visitInTimeSlices(sliceMs, elements, (element, index) => {
    const result = v.safeParse(schema, element, { abortPipeEarly: true })
    const place = at === '' ? String(index) : `${at}.${index}`
    if (result.success) outputs.push(result.output)
    else problems.push(...toFieldErrors(result.issues, place))
    // Each costs some microseconds.
    if (problems.length >= maxProblems) refuseProblems(problems)
  })
  refuseProblems(problems)
  return outputs
}

function refuseProblems(problems: readonly FieldError[]): void {
  const [first, ...others] = problems.slice(0, maxProblems)
  if (first) throw ApiError.ofFields([first, ...others])
}

/** Parses an id in a path. Throws 404 unless it is a canonical int64: `007` is not. */
export function parseId(text: string | undefined): number {
  const id = /^(0|[1-9]\d{0,18})$/.test(text ?? '') ? Number(text) : NaN
  if (!Number.isSafeInteger(id)) throw new ApiError('not-found')
  return id
}

/** Returns an id in a path. Throws 404 unless it matches the pattern. */
export function parseTextId(id = '', pattern: RegExp): string {
  if (!pattern.test(id)) throw new ApiError('not-found')
  return id
}

type FoundStation = StationRow & { readonly isPublic: boolean }

/** Finds a station by id (all digits), short name or former name; null if there is none, after the same time. */
export const findStation = async (sql: Sql, name: string): Promise<FoundStation | null> =>
  (await findStations(sql, [name])).get(name) ?? null

const isId = (name: string) => /^(0|[1-9]\d{0,15})$/.test(name)

/** Finds stations by ids (all digits), short names and former names. Returns them by name, without unknown names. */
export async function findStations(
  sql: Sql,
  names: readonly string[]
): Promise<ReadonlyMap<string, FoundStation>> {
  const ids = names.filter(isId).map(Number)
  // Postgres refuses NUL. A short name is never all digits.
  const shortNames = names.filter(name => !isId(name) && !name.includes('\0'))
  const found = await sql<FoundStation[]>`
    select id, short_name as "shortName", is_public as "isPublic" from stations
    where (id = any(${ids}::bigint[]) or short_name = any(${shortNames}::text[])) and deleted_at is null`
  const renamed = await findByFormerNames(
    sql,
    shortNames.filter(name => !shortNamePattern.test(name))
  )
  return new Map([
    ...found.flatMap((station): [string, FoundStation][] => [
      [String(station.id), station],
      [station.shortName, station]
    ]),
    ...renamed
  ])
}

/** Parses an integer of a query; `fallback` if it is absent. Throws 400 with the name of the parameter. */
export function parseQueryInteger(
  query: URLSearchParams,
  name: string,
  { least, most, fallback }: { least: number; most: number; fallback: number }
): number {
  const text = query.get(name)
  if (text === null || text === '') return fallback
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (value >= least && value <= most) return value
  return refuseField(name, 'out_of_range', `must be a whole number from ${least} to ${most}.`)
}

/** Query parameters that filter a list; each has the name of its field. */
export function queryFilters<F extends Fields>(fields: F) {
  const queryValidator = changesValidator(fields)
  return {
    /** Ignores empty parameters. Throws 400 with the name of the parameter. */
    parse: (query: URLSearchParams): Partial<ValuesOf<F>> => {
      const present = [...query].filter(([name, value]) => value !== '' && Object.hasOwn(fields, name))
      return parseBody(queryValidator, Object.fromEntries(present))
    },
    schemas: Object.fromEntries<JsonSchema>(
      Object.entries(fields).map(([name, { schema }]) => {
        const { default: _default, ...withoutDefault } = schema
        return [name, withoutDefault]
      })
    )
  }
}

interface GuardServices {
  readonly config: Pick<ApiServices['config'], 'WEBHOOK_ALLOWED_NETWORKS'>
}

/**
 * What is wrong with the address of a song; null for a path, and for an address that may be reached. A name is looked
 * up when a playout gets the song.
 */
export function findUrlProblem({ config }: GuardServices, path: string): UrlProblem | null {
  return /^https?:/i.test(path) ? checkUrl(path, toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)) : null
}

/**
 * Returns a function that checks a song before a playout gets it, which requests its address without a guard of its
 * own. An address that cannot be checked is a problem.
 */
export const openSongGuard =
  ({ config }: GuardServices) =>
  async (path: string): Promise<UrlProblem | null> =>
    /^https?:/i.test(path) ? checkForeignTarget(path, toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)) : null

/**
 * Looks up URLs that the program will request, and returns those that are not allowed as problems of their
 * fields. Text that is not a URL is skipped: the field itself reports it.
 */
export async function findTargetProblems(
  { config }: ApiServices,
  targets: readonly { readonly field: string; readonly url: string }[]
): Promise<FieldError[]> {
  const allowed = toNetworkList(config.WEBHOOK_ALLOWED_NETWORKS)
  const found = await Promise.all(
    targets.map(async ({ field, url }) => {
      const refused = parseUrl(url) ? await checkTarget(url, allowed) : null
      return refused ? [fieldError(field, refused.code, refused.sentence)] : []
    })
  )
  return found.flat()
}
