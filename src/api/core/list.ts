import type { Reply } from '../../http/route.ts'
import { integerField, type JsonSchema, textField } from '../../model/fields/field.ts'
import { openCache } from '../../platform/runtime/cache.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { literalLimit } from '../../stores/db/batches.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import type { HeavyRead } from './heavy-reads.ts'
import { openQueryFilters } from './parse.ts'
import type { ApiRequest } from './route.ts'
import { namedSchema, schemaName } from './schemas.ts'
import type { ApiServices } from './services.ts'

const defaultPageSize = 25
const maxPageSize = 500
/** Maximum number of records in a response without pages, or with all records on a page. */
export const maxUnpagedRecords = 10_000
/** Pages reach this many records, and no more are counted. */
const maxReachable = 100_000
/** A response is in memory until it is sent. */
const maxResponseBytes = 8 * 2 ** 20

/** The query of a list. `page` null: without pages. */
export interface ListQuery {
  readonly search: string
  readonly sort: string | null
  readonly isDescending: boolean
  /** `size` 0: as many records as a response may have. */
  readonly page: { readonly number: number; readonly size: number } | null
}

const format = (count: number) => count.toLocaleString('en-US')
const aboutPage = `Number of the page, from 1. With a page or a page size, the response is an envelope instead of an array. Pages reach the first ${format(maxReachable)} records.`
const aboutSize = `Records per page, at most ${maxPageSize}; 0: all records, up to ${format(maxUnpagedRecords)} per page.`
const pageFields = {
  page: integerField({ min: 1, max: 1_000_000_000, about: aboutPage }),
  current: integerField({ min: 1, max: 1_000_000_000, about: 'Alias of page.' }),
  per_page: integerField({ min: -1, max: 1_000_000_000, about: aboutSize }),
  rowCount: integerField({ min: -1, max: 1_000_000_000, about: 'Alias of per_page.' })
}
const pageQuery = openQueryFilters(pageFields)
const parameters = openQueryFilters({
  ...pageFields,
  searchPhrase: textField({
    max: 200,
    about: `Text that a record must contain, in any case. Of records that grow in number, such as plays, the newest ${format(maxReachable)} are searched.`
  })
})

/** The query parameters that choose a page. */
export const pageQueryParameters: Readonly<Record<string, JsonSchema>> = pageQuery.schemas

/** The query parameters of a list; `sort` names the fields that it can be sorted by. */
export function listQueryParameters(sort: readonly string[]): Readonly<Record<string, JsonSchema>> {
  if (sort.length === 0) return parameters.schemas
  return {
    ...parameters.schemas,
    sort: { type: 'string', enum: sort, description: 'The field to sort by.' },
    sortOrder: { type: 'string', enum: ['ASC', 'DESC'], description: 'The default is ascending.' }
  }
}

type PageRequest = Pick<ApiRequest, 'query' | 'maxPageSize'>

/** Parses the query of a list. Ignores empty parameters. Throws 400 with the name of the parameter. */
export function parseListQuery(request: PageRequest, sortFields: readonly string[]): ListQuery {
  const { query } = request
  const values = parameters.parse(query)
  const sort = query.get('sort') ?? ''
  const order = (query.get('sortOrder') ?? '').toUpperCase()
  const allowed =
    sortFields.length > 0 ? `must be one of ${sortFields.join(', ')}.` : 'is not possible in this list.'
  if (sort !== '' && !sortFields.includes(sort)) refuseField('sort', 'not_in_enum', allowed)
  if (!['', 'ASC', 'DESC'].includes(order)) refuseField('sortOrder', 'not_in_enum', 'must be ASC or DESC.')
  return {
    search: values.searchPhrase ?? '',
    sort: sort || null,
    isDescending: order === 'DESC',
    page: choosePage(values, request)
  }
}

/** Parses the page of a query; null if it asks for none. Throws 400 with the name of the parameter. */
export const parsePageQuery = (request: PageRequest): ListQuery['page'] =>
  choosePage(pageQuery.parse(request.query), request)

function choosePage(
  values: ReturnType<typeof pageQuery.parse>,
  { maxPageSize: most = maxPageSize }: PageRequest
): ListQuery['page'] {
  const number = values.page ?? values.current
  const size = values.per_page ?? values.rowCount
  if (number === undefined && size === undefined) return null
  return { number: number ?? 1, size: limitPageSize(size, most) }
}

const limitPageSize = (size = defaultPageSize, most: number) => (size <= 0 ? 0 : Math.min(size, most))

/** Which records of a list are sent. */
export function toLimitAndOffset({ page }: ListQuery): { readonly limit: number; readonly offset: number } {
  if (page === null) return { limit: maxUnpagedRecords, offset: 0 }
  const limit = page.size || maxUnpagedRecords
  return { limit, offset: (page.number - 1) * limit }
}

/** The statements of a list. */
export interface ListSource<Row extends object> {
  /** Returns all records, in order, without a limit. */
  readonly select: Fragment
  /** Makes records of the rows of one page of `select`, in the same order, so that only they are joined. */
  readonly expand?: (page: Fragment) => Fragment
  /** Returns one row, of any columns, per record; it is only counted. */
  readonly matching: Fragment
  /** Renders up to a hundred rows. */
  readonly render?: (rows: readonly Row[]) => readonly unknown[] | Promise<readonly unknown[]>
  /** Whether no index finds the rows of a page, also of one without search and sort. */
  readonly isAggregate?: boolean
  /** The key under which the count is cached for a few seconds, for public lists. */
  readonly countKey?: string
}

/** The records of one page as elements of a JSON array, and the number of matches, up to `maxReachable`. */
export interface ListResult {
  readonly elements: readonly Uint8Array[]
  readonly total: number
}

/** Reads one page of a list. Throws 400 if the page is too deep or the response would be too large. */
export async function readListPage<Row extends object>(
  request: ApiRequest,
  { heavyReads, reads: sql }: Pick<ApiServices, 'heavyReads' | 'reads'>,
  query: ListQuery,
  source: ListSource<Row>
): Promise<ListResult> {
  const { limit, offset } = toLimitAndOffset(query)
  const count = (read: HeavyRead) =>
    source.countKey === undefined
      ? countMatching(read, sql, source.matching)
      : countCached(source.countKey, () => countMatching(read, sql, source.matching))
  return heavyReads.run(
    request,
    { isLight: isAnsweredByIndex(query) && !source.isAggregate, rows: limit },
    async read => {
      const counted = offset === 0 ? null : await count(read)
      if (counted !== null && offset >= counted) {
        if (counted >= maxReachable) refuseDepth(request, limit)
        return { elements: [], total: counted }
      }
      const page = limitRows(sql, source.select, limit, offset)
      const statement = source.expand ? source.expand(page) : page
      const { elements, rows } = await readElements(read, statement, source, request)
      const total = counted ?? (rows < limit ? rows : await count(read))
      return { elements, total }
    }
  )
}

/** Up to this row, a list in its own order is a light read. */
const lightRows = 100

/** Whether an index returns the page of a list in order. */
export function isAnsweredByIndex(query: ListQuery): boolean {
  const { limit, offset } = toLimitAndOffset(query)
  return limit + offset <= lightRows && query.search === '' && query.sort === null
}

const cachedCounts = openCache<string, number>({ maxEntries: 1_000, ttlMs: 5_000 })

/** Not shared by concurrent requests, since each may be canceled. */
async function countCached(key: string, count: () => Promise<number>): Promise<number> {
  const known = cachedCounts.get(key)
  if (known !== undefined) return known
  const total = await count()
  cachedCounts.set(key, total)
  return total
}

/** Tiers of the row count that the planner expects, since a statement is planned once for all values. */
const depths = [maxPageSize, maxUnpagedRecords, maxReachable + maxUnpagedRecords]

function limitRows(sql: Sql, select: Fragment, limit: number, offset: number): Fragment {
  const depth = depths.find(rows => rows >= limit + offset) ?? maxReachable + maxUnpagedRecords
  return sql`select * from (${select} limit ${sql.unsafe(String(depth))}) page limit ${limit} offset ${offset}`
}

/** Limits a growing table to its newest rows, for pages, filters without an index and searches. */
export const newestRowsLimitFragment = (sql: Sql): Fragment => literalLimit(sql, maxReachable)

/** Counts the rows of a statement, up to `maxReachable`. */
export async function countMatching(read: HeavyRead, sql: Sql, matching: Fragment): Promise<number> {
  const [counted] = await read.rows<{ total: number }>(sql`
    select count(*) as total from (${matching} limit ${sql.unsafe(String(maxReachable))}) matching`)
  return counted?.total ?? 0
}

async function readElements<Row extends object>(
  read: HeavyRead,
  statement: Fragment,
  { render = rows => rows }: ListSource<Row>,
  { query, renderRows = rows => rows }: ApiRequest
): Promise<{ elements: readonly Uint8Array[]; rows: number }> {
  const elements: Uint8Array[] = []
  let sent = 0
  let bytes = 0
  for await (const rows of read.batches<Row>(statement)) {
    if (rows.length === 0) continue
    const array = JSON.stringify(await renderRows(await render(rows)))
    const rendered = Buffer.from(`${sent > 0 ? ',' : ''}${array.slice(1, -1)}`)
    elements.push(rendered)
    sent += rows.length
    bytes += rendered.length
    if (bytes > maxResponseBytes) {
      const field = query.has('rowCount') ? 'rowCount' : 'per_page'
      const limit = `${maxResponseBytes / 2 ** 20} MiB`
      const sentence = `is too large: the response would exceed ${limit}. Request fewer records, such as ${field}=50.`
      refuseField(field, 'out_of_range', sentence)
    }
  }
  return { elements, rows: sent }
}

function refuseDepth({ query }: ApiRequest, size: number): never {
  const field = query.has('page') ? 'page' : 'current'
  const last = format(Math.ceil(maxReachable / size))
  const sentence = `must be at most ${last}: pages reach the first ${format(maxReachable)} records. Narrow the list by its other parameters.`
  refuseField(field, 'out_of_range', sentence)
}

/** SQL: `ilike` with what finds a text anywhere, in each form of Unicode: follows the text that is searched. */
export function containsTextFragment(sql: Sql, search: string): Fragment {
  const patterns = [...new Set([search, search.normalize('NFC'), search.normalize('NFD')])].map(likePattern)
  return patterns.length === 1 ? sql`ilike ${patterns[0] ?? ''}` : sql`ilike any(${patterns}::text[])`
}

/** A pattern for `ilike` that finds the text anywhere. `%` and `_` have no special meaning in it. */
export function likePattern(search: string): string {
  return `%${search.replace(/[\\%_]/g, '\\$&')}%`
}

/**
 * Renders the response of a list: an array, or an envelope if pages were requested. That of an account-level
 * list has its records under `name`, beside the envelope.
 */
export function renderListReply(
  { elements, total }: ListResult,
  list: ListQuery,
  request: ApiRequest,
  baseUrl: string,
  name?: string
): Reply {
  const { page, headers } = renderListEnvelope(total, list, request, baseUrl)
  if (name !== undefined)
    return { body: renderObjectWithArray({ status: 'success', ...page }, name, elements), headers }
  return { body: page ? renderObjectWithArray(page, 'rows', elements) : join('[', elements, ']'), headers }
}

/** Renders a JSON object with the elements as an array under `name`. */
export function renderObjectWithArray(
  object: Readonly<Record<string, unknown>>,
  name: string,
  elements: readonly Uint8Array[]
): Uint8Array {
  const [start = '', end = ''] = JSON.stringify({ ...object, [name]: [] }).split(/(?<=\[)(?=\]\}$)/)
  return join(start, elements, end)
}

const join = (start: string, elements: readonly Uint8Array[], end: string): Uint8Array =>
  Buffer.concat([Buffer.from(start), ...elements, Buffer.from(end)])

/** The envelope of a list without its records (null: no pages were requested), and the headers. */
export function renderListEnvelope(
  total: number,
  list: Pick<ListQuery, 'page'>,
  request: ApiRequest,
  baseUrl: string
) {
  const link = (page: number, size: number) => {
    const query = new URLSearchParams(request.sentQuery ?? request.query)
    for (const name of ['page', 'current', 'per_page', 'rowCount']) query.delete(name)
    // Clients log links. A caller that a key identifies repeats it.
    if (request.caller !== null) query.delete('api_key')
    query.set('page', String(page))
    query.set('per_page', String(size))
    return `${baseUrl}${request.path}?${query.toString()}`
  }
  const count = { 'X-Total-Count': String(total) }
  if (list.page === null) {
    const next: Record<string, string> =
      total > maxUnpagedRecords
        ? { Link: `<${link(maxUnpagedRecords / maxPageSize + 1, maxPageSize)}>; rel="next"` }
        : {}
    return { page: null, headers: { ...count, ...next } }
  }
  const { number, size } = list.page
  const pages = Math.max(1, Math.ceil(total / (size || maxUnpagedRecords)))
  const page = {
    page: number,
    per_page: size || Math.min(total, maxUnpagedRecords),
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

/** The schemas of the envelope of a list, without its records. */
export const listEnvelopeSchemas: Readonly<Record<string, JsonSchema>> = {
  page: { type: 'integer' },
  per_page: { type: 'integer' },
  total: { type: 'integer', description: `Number of matches, at most ${format(maxReachable)}.` },
  total_pages: { type: 'integer' },
  links: namedSchema('PageLinks', 'The addresses of other pages of a list.', {
    type: 'object',
    properties: { first: url, previous: url, next: url, last: url },
    required: ['first', 'previous', 'next', 'last']
  })
}

/** The schema of the response of a list. */
export function listResponseSchema(record: JsonSchema): JsonSchema {
  const rows = { type: 'array', items: record }
  const envelope = {
    type: 'object',
    properties: { ...listEnvelopeSchemas, rows },
    required: [...Object.keys(listEnvelopeSchemas), 'rows']
  }
  const name = schemaName(record)
  const page = name === null ? envelope : namedSchema(`${name}Page`, 'One page of a list.', envelope)
  return {
    oneOf: [rows, page],
    description: 'All records, or one page of them if the query has a page or a page size.'
  }
}
