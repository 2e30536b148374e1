import type { Fragment, Sql } from '../db/sql.ts'
import { ApiError } from '../errors.ts'
import { integer, type JsonSchema, text } from '../fields/field.ts'
import { changesOf } from '../fields/form.ts'
import { parseBody } from './parse.ts'
import type { ApiRequest, Reply } from './route.ts'

const perPageDefault = 25
const perPageMost = 500
/** A list that is asked for without pages stops here and says where it goes on. */
const bareMost = 10_000

/** What a list was asked for. `page` null: all of it. */
export interface ListQuery {
  readonly search: string
  readonly sort: string | null
  readonly isDescending: boolean
  readonly page: { readonly number: number; readonly size: number } | null
}

const aboutPage =
  'Number of the page, from 1. Asking for a page or a size gives an envelope instead of an array.'
const aboutSize = `Records per page, at most ${perPageMost}; 0 gives all records.`
const parameters = {
  page: integer({ min: 1, max: 1_000_000_000, about: aboutPage }),
  current: integer({ min: 1, max: 1_000_000_000, about: 'The same as page.' }),
  per_page: integer({ min: -1, max: 1_000_000_000, about: aboutSize }),
  rowCount: integer({ min: -1, max: 1_000_000_000, about: 'The same as per_page.' }),
  searchPhrase: text({ max: 200, fallback: '', about: 'Text that a record must hold, in any case.' })
}

/** The query parameters of every list; `sort` names the keys by which this one can be sorted. */
export function listParameters(sort: readonly string[]): Readonly<Record<string, JsonSchema>> {
  const paging = Object.fromEntries(Object.entries(parameters).map(([name, { schema }]) => [name, schema]))
  if (sort.length === 0) return paging
  return {
    ...paging,
    sort: { type: 'string', enum: sort, description: 'The field to sort by.' },
    sortOrder: { type: 'string', enum: ['ASC', 'DESC'], description: 'Ascending unless told otherwise.' }
  }
}

const paging = changesOf(parameters)

/** Reads a list's query. An empty parameter counts as none. Throws a 400 that names the parameter. */
export function parseListQuery(query: URLSearchParams, sortKeys: readonly string[]): ListQuery {
  const named = [...query].filter(([name, value]) => value !== '' && Object.hasOwn(parameters, name))
  const given = parseBody(paging, Object.fromEntries(named))
  const sort = query.get('sort') ?? ''
  const order = (query.get('sortOrder') ?? '').toUpperCase()
  if (sort !== '' && sortKeys.length === 0)
    refuse('sort', 'is not possible: this list has an order of its own.')
  if (sort !== '' && !sortKeys.includes(sort)) refuse('sort', `must be one of ${sortKeys.join(', ')}.`)
  if (!['', 'ASC', 'DESC'].includes(order)) refuse('sortOrder', 'must be ASC or DESC.')
  const number = given.page ?? given.current
  const size = given.per_page ?? given.rowCount
  const isPaged = number !== undefined || size !== undefined
  return {
    search: given.searchPhrase ?? '',
    sort: sort || null,
    isDescending: order === 'DESC',
    page: isPaged ? { number: number ?? 1, size: sizeOf(size) } : null
  }
}

/** 0 stands for all. */
function sizeOf(asked = perPageDefault): number {
  return asked <= 0 ? 0 : Math.min(asked, perPageMost)
}

function refuse(field: string, sentence: string): never {
  throw ApiError.ofFields([{ field, code: 'not_in_enum', message: `${field} ${sentence}` }])
}

/** Which records of a list are sent. */
export function windowOf({ page }: ListQuery): { readonly limit: number | null; readonly offset: number } {
  if (page === null) return { limit: bareMost, offset: 0 }
  if (page.size === 0) return { limit: null, offset: 0 }
  return { limit: page.size, offset: (page.number - 1) * page.size }
}

/** How many records match, where the window cannot have cut any off; null: they have to be counted. */
export function wholeCount(query: ListQuery, sent: number): number | null {
  const { limit, offset } = windowOf(query)
  const isWhole = offset === 0 && (limit === null || sent < limit)
  return isWhole ? sent : null
}

/** The same as the end of a statement. */
export function limitOf(sql: Sql, query: ListQuery): Fragment {
  const { limit, offset } = windowOf(query)
  return limit === null ? sql`` : sql`limit ${limit} offset ${offset}`
}

/** A pattern for `ilike` that finds the text anywhere; `%` and `_` stand for themselves. */
export function likePattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`
}

/** Answers a list: `rows` are those in the window, `total` counts all that match. */
export function listReply(
  rows: readonly unknown[],
  total: number,
  list: ListQuery,
  request: ApiRequest,
  baseUrl: string
): Reply {
  const { page, headers } = describePage(total, list, request, baseUrl)
  return { body: JSON.stringify(page ? { ...page, rows } : rows), headers }
}

/** What is said about the records of a list: the envelope without its rows (null: none was asked for) and headers. */
export function describePage(total: number, list: ListQuery, request: ApiRequest, baseUrl: string) {
  const link = (page: number, size: number) => {
    const query = new URLSearchParams(request.query)
    for (const name of ['page', 'current', 'per_page', 'rowCount']) query.delete(name)
    query.set('page', String(page))
    query.set('per_page', String(size))
    return `${baseUrl}${request.path}?${query.toString()}`
  }
  const count = { 'X-Total-Count': String(total) }
  if (list.page === null) {
    const more: Record<string, string> =
      total > bareMost ? { Link: `<${link(bareMost / perPageMost + 1, perPageMost)}>; rel="next"` } : {}
    return { page: null, headers: { ...count, ...more } }
  }
  const { number, size } = list.page
  const pages = size === 0 ? 1 : Math.max(1, Math.ceil(total / size))
  const page = {
    page: number,
    per_page: size === 0 ? total : size,
    total,
    total_pages: pages,
    links: {
      first: link(1, size),
      previous: link(Math.max(1, Math.min(number - 1, pages)), size),
      next: link(Math.min(number + 1, pages), size),
      last: link(pages, size)
    }
  }
  return { page, headers: count }
}

const url = { type: 'string', format: 'uri' }

/** The schemas of what an envelope says beside its rows. */
export const pageSchemas: Readonly<Record<string, JsonSchema>> = {
  page: { type: 'integer' },
  per_page: { type: 'integer' },
  total: { type: 'integer' },
  total_pages: { type: 'integer' },
  links: {
    type: 'object',
    properties: { first: url, previous: url, next: url, last: url },
    required: ['first', 'previous', 'next', 'last']
  }
}

/** The schema of a list's answer: an array, or the envelope where pages were asked for. */
export function listSchema(record: JsonSchema): JsonSchema {
  const rows = { type: 'array', items: record }
  const envelope = {
    type: 'object',
    properties: { ...pageSchemas, rows },
    required: [...Object.keys(pageSchemas), 'rows']
  }
  return { oneOf: [rows, envelope] }
}
