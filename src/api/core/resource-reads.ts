import { type Field, type Fields, toColumnName } from '../../model/fields/field.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { urlSchemePattern, redactLocation } from '../../webhooks/redact.ts'
import { maySeeUnredactedUrls } from '../auth/access.ts'
import { containsTextFragment, type ListQuery, type ListSource } from './list.ts'
import {
  belongsToStation,
  type RecordRenderContext,
  type Resource,
  type ResourceHooks,
  type StoredRecord
} from './resource.ts'
import type { ApiRequest, Caller, PathStation } from './route.ts'
import type { ApiServices } from './services.ts'

/** Opens the reads of a resource. A record of a station is found only together with that station. */
export function openResourceReads<F extends Fields>(resource: Resource<F>, hooks: ResourceHooks<F> = {}) {
  const { table, fields, only = 'true' } = resource
  const stored = Object.keys(fields).filter(name => fields[name]?.isStored)
  const columns = ['id', ...stored].map(name => `"${toColumnName(name)}" as "${name}"`).join(', ')

  const conditionOf = (sql: Sql | Tx, station: PathStation | null): Fragment =>
    belongsToStation(resource)
      ? sql`station_id = ${station?.id ?? null} and ${sql.unsafe(only)}`
      : sql`${sql.unsafe(only)}`

  const seesWholeAddresses = (caller: Caller | null, station: PathStation | null) =>
    maySeeUnredactedUrls(caller?.key ?? null, resource.access.write, station?.id ?? null)

  /** Reads a row; `lock` is a locking clause or empty. Throws 404 if it does not exist. */
  async function find(
    sql: Sql | Tx,
    station: PathStation | null,
    id: number,
    lock: Fragment
  ): Promise<StoredRecord<F>> {
    const [row] = await sql<StoredRecord<F>[]>`
      select ${sql.unsafe(columns)} from ${sql(table)} where ${conditionOf(sql, station)} and id = ${id} ${lock}`
    if (!row) throw new ApiError('not-found')
    return row
  }

  async function render(rows: readonly StoredRecord<F>[], context: RecordRenderContext) {
    const rendered = (await hooks.render?.(rows, context)) ?? []
    const isWhole = seesWholeAddresses(context.caller, context.station)
    return rows.map((row, index) => renderRecord(fields, row, rendered[index] ?? {}, isWhole))
  }

  async function read(
    services: ApiServices,
    { caller }: ApiRequest,
    station: PathStation | null,
    id: number
  ) {
    const { reads: sql } = services
    const row = await find(sql, station, id, sql``)
    const [record] = await render([row], { services, station, caller, sql })
    return record
  }

  /** Reads records by their ids, in that order; unknown ids are left out. */
  async function readMany(
    services: ApiServices,
    { caller }: ApiRequest,
    station: PathStation | null,
    ids: readonly number[]
  ) {
    const { reads: sql } = services
    const found = await sql<StoredRecord<F>[]>`
      select ${sql.unsafe(columns)} from ${sql(table)}
      where ${conditionOf(sql, station)} and id = any(${[...ids]}::bigint[])`
    const byId = new Map(found.map(row => [row.id, row]))
    const rows = ids.flatMap(id => byId.get(id) ?? [])
    return render(rows, { services, station, caller, sql })
  }

  /** The list of the records that match a query and have the values of the filter. */
  function list(
    services: ApiServices,
    { caller }: ApiRequest,
    station: PathStation | null,
    query: ListQuery,
    filter: object
  ): ListSource<StoredRecord<F>> {
    const { reads: sql } = services
    const conditions = [
      conditionOf(sql, station),
      ...Object.entries(filter).map(([name, value]) => sql`${sql(toColumnName(name))} = ${value}`),
      ...(query.search === ''
        ? []
        : [searchCondition(sql, query.search, seesWholeAddresses(caller, station))])
    ]
    const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`)
    const sort = sql(toColumnName(query.sort ?? resource.order))
    const direction = query.isDescending ? sql`desc` : sql``
    return {
      select: sql`
        select ${sql.unsafe(columns)} from ${sql(table)} where ${where} order by ${sort} ${direction}, id`,
      matching: sql`select from ${sql(table)} where ${where}`,
      render: rows => render(rows, { services, station, caller, sql })
    }
  }

  /** Redacted addresses are not searched: a caller could find them out piece by piece. */
  function searchCondition(sql: Sql, search: string, isWhole: boolean): Fragment {
    const contains = containsTextFragment(sql, search)
    const any = resource.search
      .map(name => {
        const column = sql(toColumnName(name))
        return isWhole || fields[name]?.kind !== 'private address'
          ? sql`${column} ${contains}`
          : sql`${column} ${contains} and ${column} !~ ${urlSchemePattern}`
      })
      .reduce((all, condition) => sql`${all} or ${condition}`)
    return sql`(${any})`
  }

  return { find, list, read, readMany }
}

/** The reads of one resource. */
export type ResourceReads<F extends Fields> = ReturnType<typeof openResourceReads<F>>

function renderRecord(
  fields: Fields,
  row: Readonly<Record<string, unknown>>,
  rendered: Readonly<Record<string, unknown>>,
  isWhole: boolean
) {
  const record: Record<string, unknown> = { id: row['id'] }
  for (const [name, { kind }] of Object.entries(fields))
    record[name] = Object.hasOwn(rendered, name) ? rendered[name] : renderStored(kind, row[name], isWhole)
  return record
}

function renderStored(kind: Field<unknown>['kind'], value: unknown, isWhole: boolean): unknown {
  if (kind === 'secret') return ''
  return kind === 'private address' && !isWhole ? redactLocation(String(value)) : value
}
