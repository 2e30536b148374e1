import type { Fragment, Sql } from '../../db/sql.ts'
import { integer, text } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import { listParameters, listReply, listSchema, newestRows, parseListQuery, readList } from '../core/list.ts'
import { filtersOf, findStation } from '../core/parse.ts'
import type { ApiRoute } from '../core/route.ts'
import { exactly } from '../core/schemas.ts'

const path = '/api/admin/auditlog'
const lastSecond = 253_402_300_799

const filters = filtersOf({
  record: text({ max: 100, about: 'Only changes of this kind of record.', example: 'Playlist' }),
  record_id: text({ max: 200, about: 'Only changes of the record with this id.' }),
  key: text({ max: 255, about: 'Only changes with the key of this name or id.' }),
  station: text({ max: 255, about: 'Only changes at this station, by id or short name.' }),
  since: integer({ min: 0, max: lastSecond, about: 'Unix seconds: not before.' }),
  until: integer({ min: 0, max: lastSecond, about: 'Unix seconds: not after.' })
})

interface AuditRow {
  readonly id: number
  readonly at: number
  readonly key: { readonly id: number; readonly name: string }
  readonly method: string
  readonly path: string
  readonly record: string
  readonly record_id: string
  readonly station_id: number
  readonly fields: readonly string[]
}

const whole = { type: 'integer', format: 'int64' }
const word = { type: 'string' }
export const auditEntrySchema = exactly({
  id: whole,
  at: { ...whole, description: 'Unix seconds' },
  key: exactly({ id: { ...whole, description: '0: none.' }, name: word }),
  method: word,
  path: { ...word, description: 'Without the secret of a key.' },
  record: { ...word, examples: ['Playlist'] },
  record_id: { ...word, description: '*: many.' },
  station_id: { ...whole, description: '0: none.' },
  fields: { type: 'array', items: word, description: 'Names of what changed; values are not kept.' }
})

const list: ApiRoute = {
  method: 'GET',
  path,
  access: 'view system logs',
  operation: {
    id: 'listAuditLog',
    tag: 'Audit log',
    summary: 'Who changed what, newest first',
    query: { ...listParameters([]), ...filters.schemas },
    answer: listSchema({ $ref: '#/components/schemas/AuditEntry' })
  },
  async handle(request, services) {
    const { reads: sql, config } = services
    const query = parseListQuery(request.query, [])
    const { record, record_id: recordId, key, station, since, until } = filters.parse(request.query)
    const stationId = station === undefined ? undefined : await stationIdOf(sql, station)
    // An entry shows the second it was made in.
    const range = {
      from: sql`to_timestamp(${since ?? 0})`,
      to: sql`to_timestamp(${(until ?? lastSecond) + 1})`
    }
    const source =
      key !== undefined
        ? ofKey(sql, key, range)
        : stationId !== undefined
          ? newestOf(sql, [sql`station_id`], sql`${stationId}::bigint`, range)
          : record !== undefined && recordId !== undefined
            ? newestOf(sql, [sql`record`, sql`record_id`], sql`${record}, ${recordId}`, range)
            : record !== undefined
              ? newestOf(sql, [sql`record`], sql`${record}::text`, range)
              : newestOfAll(sql, range)
    const conditions: Fragment[] = [
      ...(record === undefined ? [] : [sql`record = ${record}`]),
      ...(recordId === undefined ? [] : [sql`record_id = ${recordId}`]),
      ...(stationId === undefined ? [] : [sql`station_id = ${stationId}`]),
      ...(query.search === '' ? [] : [sql`strpos(lower(path), lower(${query.search})) > 0`])
    ]
    const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`where true`)
    const entries = sql`select * from (${source}) audit_log ${where}`
    const rows = await readList<AuditRow>(request, services, query, {
      select: entries,
      expand: page => sql`
        select id, floor(extract(epoch from at))::bigint as at,
          jsonb_build_object('id', coalesce(key_id, 0), 'name', key_name) as key, method, path, record, record_id,
          coalesce(station_id, 0) as station_id, fields
        from (${page}) audit_log`,
      matching: entries
    })
    return listReply(rows, query, request, config.BASE_URL)
  }
}

/**
 * Entries outlive their station, so an id needs no station that is there. Throws a 400 for an unknown name.
 */
async function stationIdOf(sql: Sql, station: string): Promise<number> {
  if (/^\d{1,15}$/.test(station)) return Number(station)
  const found = await findStation(sql, station)
  if (found === null)
    throw ApiError.ofFields([{ field: 'station', code: 'not_found', message: 'station is no station.' }])
  return found.id
}

/** Which entries: from a time on, before another. */
interface Range {
  readonly from: Fragment
  readonly to: Fragment
}

const newestOfAll = (sql: Sql, { from, to }: Range): Fragment => sql`
  select * from audit_log where at >= ${from} and at < ${to} order by audit_log.at desc, id desc ${newestRows(sql)}`

/**
 * The newest entries whose columns have these values, with bounds and order of an index that begins with the
 * columns: see "walks an index of all stations" in docs/gotchas.md.
 */
function newestOf(sql: Sql, columns: readonly Fragment[], values: Fragment, { from, to }: Range): Fragment {
  const [first, ...others] = columns
  const key = others.reduce((all, column) => sql`${all}, ${column}`, sql`${first ?? sql``}`)
  const order = columns.map(column => sql`audit_log.${column} desc, `)
  return sql`
    select * from audit_log where (${key}, at) >= (${values}, ${from}) and (${key}, at) < (${values}, ${to})
    order by ${order} audit_log.at desc, id desc ${newestRows(sql)}`
}

/** Names may be all digits; ids are. */
function ofKey(sql: Sql, key: string, range: Range): Fragment {
  const named = newestOf(sql, [sql`key_name`], sql`${key}::text`, range)
  if (!/^\d{1,15}$/.test(key)) return named
  const ofId = newestOf(sql, [sql`key_id`], sql`${Number(key)}::bigint`, range)
  return sql`
    (${named}) union all select * from (${ofId}) audit_log where key_name <> ${key} order by at desc, id desc`
}

export const auditLogRoutes = [list]
