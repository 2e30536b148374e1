import { integerField, textField } from '../../model/fields/field.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { findStationByName } from '../core/find-station.ts'
import { listRoute } from '../core/list-route.ts'
import { newestRowsLimitFragment } from '../core/list.ts'
import { maxUnixSecond, parseMoment } from '../core/moments.ts'
import { openQueryFilters } from '../core/parse.ts'
import { arrayOf, exactObject, int64, namedSchema, string, unixSeconds } from '../core/schemas.ts'

const filters = openQueryFilters({
  record: textField({ max: 100, about: 'Only changes of this kind of record.', example: 'Playlist' }),
  record_id: textField({ max: 200, about: 'Only changes of the record with this id.' }),
  key: textField({ max: 255, about: 'Only changes by the key with this name or id.' }),
  station: textField({ max: 255, about: 'Only changes of this station (id or short name).' }),
  since: integerField({
    min: 0,
    max: maxUnixSecond,
    about: 'Only changes at this time or later, in Unix seconds.'
  }),
  until: integerField({
    min: 0,
    max: maxUnixSecond,
    about: 'Only changes at this time or earlier, in Unix seconds.'
  }),
  before: integerField({
    min: 1,
    max: Number.MAX_SAFE_INTEGER,
    about: 'Only changes that are listed after the one with this id: the next page, however deep it is.'
  })
})

const auditEntrySchema = namedSchema(
  'AuditEntry',
  'A change that a caller made.',
  exactObject({
    id: int64,
    at: unixSeconds,
    key: exactObject({ id: { ...int64, description: '0: none.' }, name: string }),
    method: string,
    path: { ...string, description: 'Without the secret of a key.' },
    record: { ...string, examples: ['Playlist'] },
    record_id: { ...string, description: '*: several.' },
    record_name: { ...string, description: 'The name that the record had.' },
    station_id: { ...int64, description: '0: none.' },
    station_name: { ...string, description: 'The name that the station had.' },
    fields: { ...arrayOf(string), description: 'Names of the changed fields.' },
    changes: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          { type: 'object', properties: { from: {}, to: {} }, additionalProperties: false },
          { type: 'string', enum: ['changed'] }
        ]
      },
      description:
        'The values of fields before (from) and after the change (to). changed: a secret, or a value that is not kept. Together at most 8 KiB; a shortened value is text that ends with ….',
      examples: [{ weight: { from: 3, to: 7 }, password: 'changed' }]
    }
  })
)

/** The second at which a day or time of the query begins; null if it is absent. They are UTC. */
function parseSecond(query: URLSearchParams, name: string): number | null {
  const moment = parseMoment(query, name)
  if (moment === null) return null
  if ('seconds' in moment) return moment.seconds
  return Date.parse(`${'day' in moment ? `${moment.day}T00:00:00` : moment.localTime}Z`) / 1_000
}

const daySeconds = 86_400

/** The range of `since` and `until`, or of AzuraCast's `start` and `end`, in Unix seconds. */
function parseRange(query: URLSearchParams) {
  const { since, until } = filters.parse(query)
  const end = parseSecond(query, 'end')
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(query.get('end')?.trim() ?? '')
  return {
    since: since ?? parseSecond(query, 'start') ?? 0,
    until: until ?? (end === null ? maxUnixSecond : isDay ? end + daySeconds - 1 : end)
  }
}

export const auditLogRoute = listRoute('/api/admin/auditlog', 'view system logs', {
  id: 'listAuditLog',
  tag: 'Audit log',
  summary: 'All changes by API keys, newest first',
  filters: {
    ...filters.schemas,
    start: { ...string, description: 'Alias of since; a day (YYYY-MM-DD, UTC) or Unix seconds.' },
    end: { ...string, description: 'Alias of until; a day is included.' }
  },
  responseRecord: 'AuditEntry',
  record: auditEntrySchema,
  async open(query, request, { reads: sql }) {
    const { record, record_id: recordId, key, station, before } = filters.parse(request.query)
    const { since, until } = parseRange(request.query)
    const stationId = station === undefined ? undefined : await parseStation(sql, station)
    // An entry shows the second of the change.
    const from = sql`to_timestamp(${since})`
    const end = sql`to_timestamp(${until + 1})`
    const range =
      before === undefined
        ? { from, to: end, toId: sql`0::bigint` }
        : { from, ...(await getPosition(sql, before, end)) }
    const source =
      key !== undefined
        ? newestByKey(sql, key, range)
        : stationId !== undefined
          ? newestWith(sql, [sql`station_id`], sql`${stationId}::bigint`, range)
          : record !== undefined && recordId !== undefined
            ? newestWith(sql, [sql`record`, sql`record_id`], sql`${record}, ${recordId}`, range)
            : record !== undefined
              ? newestWith(sql, [sql`record`], sql`${record}::text`, range)
              : newestEntries(sql, range)
    const conditions: Fragment[] = [
      ...(record === undefined ? [] : [sql`record = ${record}`]),
      ...(recordId === undefined ? [] : [sql`record_id = ${recordId}`]),
      ...(stationId === undefined ? [] : [sql`station_id = ${stationId}`]),
      ...(query.search === '' ? [] : [sql`strpos(lower(path), lower(${query.search})) > 0`])
    ]
    const where = conditions.reduce((all, condition) => sql`${all} and ${condition}`, sql`where true`)
    const entries = sql`select * from (${source}) audit_log ${where}`
    return {
      select: entries,
      expand: page => sql`
        select id, floor(extract(epoch from at))::bigint as at,
          jsonb_build_object('id', coalesce(key_id, 0), 'name', key_name) as key, method, path, record, record_id,
          coalesce(record_name, '') as record_name, coalesce(station_id, 0) as station_id,
          coalesce(station_name, '') as station_name, fields, coalesce(changes, '{}') as changes
        from (${page}) audit_log`,
      matching: entries
    }
  }
})

/** Returns an id as it is, since entries remain when a station is deleted. Throws 400 for an unknown name. */
async function parseStation(sql: Sql, station: string): Promise<number> {
  if (/^\d{1,15}$/.test(station)) return Number(station)
  const found = await findStationByName(sql, station)
  return found?.id ?? refuseField('station', 'not_found', 'is no station.')
}

/** A range of time, without `to`; of the entries at `to`, those with smaller ids than `toId`. */
interface EntryRange {
  readonly from: Fragment
  readonly to: Fragment
  readonly toId: Fragment
}

/** The position of an entry in the list, or the end of the range if that is earlier. Throws 400 without the entry. */
async function getPosition(sql: Sql, id: number, end: Fragment): Promise<Omit<EntryRange, 'from'>> {
  // As text, because the times of JavaScript have no microseconds.
  const [entry] = await sql<{ at: string; isBefore: boolean }[]>`
    select at::text as at, at < ${end} as "isBefore" from audit_log where id = ${id}`
  if (!entry) return refuseField('before', 'not_found', 'is no change; it may have been removed.')
  if (!entry.isBefore) return { to: end, toId: sql`0::bigint` }
  return { to: sql`${entry.at}::timestamptz`, toId: sql`${id}::bigint` }
}

const newestEntries = (sql: Sql, { from, to, toId }: EntryRange): Fragment => sql`
  select * from audit_log where at >= ${from} and (at, id) < (${to}, ${toId})
  order by audit_log.at desc, id desc ${newestRowsLimitFragment(sql)}`

/**
 * The newest entries whose columns have the values. The bounds and the order are those of an index that begins
 * with the columns: see "walks an index of all stations" in docs/gotchas.md.
 */
function newestWith(sql: Sql, columns: readonly Fragment[], values: Fragment, range: EntryRange): Fragment {
  const { from, to, toId } = range
  const [first, ...others] = columns
  const key = others.reduce((all, column) => sql`${all}, ${column}`, sql`${first ?? sql``}`)
  const order = columns.map(column => sql`audit_log.${column} desc, `)
  return sql`
    select * from audit_log where (${key}, at) >= (${values}, ${from}) and (${key}, at, id) < (${values}, ${to}, ${toId})
    order by ${order} audit_log.at desc, id desc ${newestRowsLimitFragment(sql)}`
}

/** The newest entries of the key with a name or id. A name may be all digits. */
function newestByKey(sql: Sql, key: string, range: EntryRange): Fragment {
  const ofName = newestWith(sql, [sql`key_name`], sql`${key}::text`, range)
  if (!/^\d{1,15}$/.test(key)) return ofName
  const identified = newestWith(sql, [sql`key_id`], sql`${Number(key)}::bigint`, range)
  return sql`
    (${ofName}) union all select * from (${identified}) audit_log where key_name <> ${key} order by at desc, id desc`
}
