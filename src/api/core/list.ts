import type { Fragment, Sql } from '../../db/sql.ts'
import { integer, type JsonSchema, text } from '../../fields/field.ts'
import { changesOf } from '../../fields/form.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { HeavyRead } from './heavy-reads.ts'
import { parseBody } from './parse.ts'
import type { ApiRequest, Reply } from './route.ts'
import type { ApiServices } from './services.ts'

const perPageDefault = 25
const perPageMost = 500
/**
 * A list that is requested without pages, or with all records on a page, has at most this many records in an
 * answer.
 */
const allMost = 10_000
/** Pages reach this many records, and no more are counted. */
const reachMost = 100_000
/** Longer lists are refused, since an answer is in memory until it is sent. */
const bytesMost = 8 * 2 ** 20

/** What a list was asked for. `page` null: all of it. */
export interface ListQuery {
  readonly search: string
  readonly sort: string | null
  readonly isDescending: boolean
  /** `size` 0: as many records as an answer may have. */
  readonly page: { readonly number: number; readonly size: number } | null
}

const whole = (count: number) => count.toLocaleString('en-US')
const aboutPage = `Number of the page, from 1. Asking for a page or a size gives an envelope instead of an array. Pages reach the first ${whole(reachMost)} records.`
const aboutSize = `Records per page, at most ${perPageMost}; 0 gives all records, up to ${whole(allMost)} per page.`
const parameters = {
  page: integer({ min: 1, max: 1_000_000_000, about: aboutPage }),
  current: integer({ min: 1, max: 1_000_000_000, about: 'The same as page.' }),
  per_page: integer({ min: -1, max: 1_000_000_000, about: aboutSize }),
  rowCount: integer({ min: -1, max: 1_000_000_000, about: 'The same as per_page.' }),
  searchPhrase: text({
    max: 200,
    fallback: '',
    about: `Text that a record must hold, in any case. Of records that grow in number, such as plays, the newest ${whole(reachMost)} are searched.`
  })
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

/** 0 stands for as many as an answer may have. */
function sizeOf(asked = perPageDefault): number {
  return asked <= 0 ? 0 : Math.min(asked, perPageMost)
}

function refuse(field: string, sentence: string, code = 'not_in_enum'): never {
  throw ApiError.ofFields([{ field, code, message: `${field} ${sentence}` }])
}

/** Which records of a list are sent. */
export function pageWindow({ page }: ListQuery): { readonly limit: number; readonly offset: number } {
  if (page === null) return { limit: allMost, offset: 0 }
  const limit = page.size || allMost
  return { limit, offset: (page.number - 1) * limit }
}

/** Where a list comes from. */
export interface ListSource<Row extends object> {
  /** A statement for all records, in order, without a limit. */
  readonly select: Fragment
  /**
   * Makes records of the rows of a page of `select`, in the same order. What it joins and calculates is not
   * done for the pages before.
   */
  readonly expand?: (page: Fragment) => Fragment
  /** A statement with one row, of any columns, per record; it is only counted. */
  readonly matching: Fragment
  /** The records as they are sent. Called with a hundred rows at a time. */
  readonly render?: (rows: readonly Row[]) => readonly unknown[] | Promise<readonly unknown[]>
  /** Names a count that may be a few seconds old, for lists that anybody may request. */
  readonly countKey?: string
}

/**
 * The records of a list's window as the elements of a JSON array, and how many match: `reachMost` stands for
 * that or more.
 */
export interface ListResult {
  readonly elements: readonly Uint8Array[]
  readonly total: number
}

/**
 * Reads the window of a list. Throws a 400 that names the parameter for a page that is too deep, and for more
 * bytes than an answer may have.
 */
export async function readList<Row extends object>(
  request: ApiRequest,
  { heavyReads, reads: sql }: Pick<ApiServices, 'heavyReads' | 'reads'>,
  query: ListQuery,
  source: ListSource<Row>
): Promise<ListResult> {
  const { limit, offset } = pageWindow(query)
  const count = (read: HeavyRead) =>
    source.countKey === undefined
      ? countMatching(read, sql, source.matching)
      : keptCounts.get(source.countKey, () => countMatching(read, sql, source.matching))
  return heavyReads.run(request, { isLight: isLight(query), rows: limit }, async read => {
    const before = offset === 0 ? null : await count(read)
    if (before !== null && offset >= before) {
      if (before >= reachMost) refuseDepth(request, limit)
      return { elements: [], total: before }
    }
    const page = windowed(sql, source.select, limit, offset)
    const statement = source.expand ? source.expand(page) : page
    const { elements, rows } = await readElements(read, statement, source, request)
    const total = before ?? (rows < limit ? rows : await count(read))
    return { elements, total }
  })
}

/** Up to this row a list in its own order is light work. */
const lightRows = 100

export function isLight(query: ListQuery): boolean {
  const { limit, offset } = pageWindow(query)
  return limit + offset <= lightRows && query.search === '' && query.sort === null
}

const keptCounts = openKeptCounts()

/** Counts that are a few seconds old at most, of the keys that were counted last. */
function openKeptCounts() {
  const keptMs = 5_000
  const keysAtMost = 1_000
  const counts = new Map<string, { readonly total: number; readonly atMs: number }>()
  return {
    get: async (key: string, count: () => Promise<number>): Promise<number> => {
      const known = counts.get(key)
      if (known && performance.now() - known.atMs < keptMs) return known.total
      const total = await count()
      const oldest = counts.size >= keysAtMost ? counts.keys().next() : { done: true as const }
      if (!oldest.done) counts.delete(oldest.value)
      counts.set(key, { total, atMs: performance.now() })
      return total
    }
  }
}

/** Tiers of how many rows the planner has to expect: statements are planned once, for any numbers. */
const depths = [perPageMost, allMost, reachMost + allMost]

function windowed(sql: Sql, select: Fragment, limit: number, offset: number): Fragment {
  const depth = depths.find(rows => rows >= limit + offset) ?? reachMost + allMost
  return sql`select * from (${select} limit ${sql.unsafe(String(depth))}) page limit ${limit} offset ${offset}`
}

/**
 * The limit of the newest rows of a table that grows: pages, filters without an index and searches look no
 * further.
 */
export const newestRows = (sql: Sql): Fragment => sql.unsafe(`limit ${reachMost}`)

/** Counts the rows of a statement; `reachMost` stands for that or more. */
export async function countMatching(read: HeavyRead, sql: Sql, matching: Fragment): Promise<number> {
  const [counted] = await read.rows<{ total: number }>(sql`
    select count(*) as total from (${matching} limit ${sql.unsafe(String(reachMost))}) matching`)
  return counted?.total ?? 0
}

const comma = Buffer.from(',')

async function readElements<Row extends object>(
  read: HeavyRead,
  statement: Fragment,
  { render = rows => rows }: ListSource<Row>,
  { query }: ApiRequest
): Promise<{ elements: readonly Uint8Array[]; rows: number }> {
  const elements: Uint8Array[] = []
  let sent = 0
  let bytes = 0
  for await (const rows of read.batches<Row>(statement)) {
    if (rows.length === 0) continue
    const array = JSON.stringify(await render(rows))
    const rendered = Buffer.from(array.slice(1, -1))
    if (sent > 0) elements.push(comma)
    elements.push(rendered)
    sent += rows.length
    bytes += rendered.length
    if (bytes > bytesMost) {
      const field = query.has('rowCount') ? 'rowCount' : 'per_page'
      refuse(
        field,
        `is too large: the answer would exceed ${bytesMost / 2 ** 20} MiB. Ask for fewer records, such as ${field}=50.`,
        'out_of_range'
      )
    }
  }
  return { elements, rows: sent }
}

function refuseDepth({ query }: ApiRequest, size: number): never {
  refuse(
    query.has('page') ? 'page' : 'current',
    `must be at most ${whole(Math.ceil(reachMost / size))}: pages reach the first ${whole(reachMost)} records. Narrow the list by its other parameters.`,
    'out_of_range'
  )
}

/** A pattern for `ilike` that finds the text anywhere; `%` and `_` stand for themselves. */
export function likePattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`
}

/** Answers a list. */
export function listReply(
  { elements, total }: ListResult,
  list: ListQuery,
  request: ApiRequest,
  baseUrl: string
): Reply {
  const { page, headers } = describePage(total, list, request, baseUrl)
  return { body: page ? withElements(page, 'rows', elements) : joined('[', elements, ']'), headers }
}

/** A JSON object with these keys, and the elements as an array under the name. */
export function withElements(
  object: Readonly<Record<string, unknown>>,
  name: string,
  elements: readonly Uint8Array[]
): Uint8Array {
  const [start = '', end = ''] = JSON.stringify({ ...object, [name]: [] }).split(/(?<=\[)(?=\]\}$)/)
  return joined(start, elements, end)
}

function joined(start: string, elements: readonly Uint8Array[], end: string): Uint8Array {
  return Buffer.concat([Buffer.from(start), ...elements, Buffer.from(end)])
}

/**
 * What is said about the records of a list: the envelope without its rows (null: none was asked for) and
 * headers.
 */
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
      total > allMost ? { Link: `<${link(allMost / perPageMost + 1, perPageMost)}>; rel="next"` } : {}
    return { page: null, headers: { ...count, ...more } }
  }
  const { number, size } = list.page
  const pages = Math.max(1, Math.ceil(total / (size || allMost)))
  const page = {
    page: number,
    per_page: size || Math.min(total, allMost),
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
  total: { type: 'integer', description: `Records that match; ${whole(reachMost)} stands for that or more.` },
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
