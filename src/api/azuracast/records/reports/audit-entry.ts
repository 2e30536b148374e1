import type { AuditedChange, AuditedChanges } from '../../../core/audit.ts'
import { arrayOf, exactObject, int64, string } from '../../../core/schemas.ts'
import { declareReplacedRecord, shownMember } from '../../declare-record.ts'
import { isoTime, nullableString } from '../../response-schema.ts'
import { toIsoTime } from '../people/broadcast.ts'

type AuditRow = {
  readonly id: number
  readonly at: number
  readonly key: { readonly name: string }
  readonly method: string
  readonly record: string
  readonly record_id: string
  readonly station_id: number
  readonly station_name: string
  readonly fields: readonly string[]
  readonly changes: AuditedChanges
}

const operationsByMethod: Readonly<Record<string, readonly [number, string]>> = {
  POST: [1, 'insert'],
  PUT: [2, 'update'],
  DELETE: [3, 'delete']
}

/** The names of stations by id. */
type StationNames = ReadonlyMap<number, string>

/** A change. */
export const auditEntryDialect = declareReplacedRecord<AuditRow, StationNames>({
  members: {
    id: shownMember(int64, ({ id }) => id),
    timestamp: shownMember(isoTime, ({ at }) => toIsoTime(at)),
    operation: shownMember(int64, ({ method }) => operationOf(method)[0]),
    operationText: shownMember(string, ({ method }) => operationOf(method)[1]),
    class: shownMember(string, ({ record }) => record),
    identifier: shownMember(string, row => row.record_id),
    targetClass: shownMember(nullableString, row => (row.station_id === 0 ? null : 'Station')),
    target: shownMember(
      nullableString,
      (row, { extras }) => extras.get(row.station_id) ?? (row.station_name || null)
    ),
    changes: shownMember(
      arrayOf(exactObject({ field: string, from: string, to: string })),
      ({ fields, changes }) => fields.map(field => ({ field, ...renderValues(changes[field]) }))
    ),
    user: shownMember(string, ({ key }) => key.name)
  },
  async read(rows, { sql }) {
    const stations = await sql<{ id: number; name: string }[]>`
      select id, name from stations where id = any(${rows.map(row => row.station_id)}::bigint[])`
    return new Map(stations.map(({ id, name }) => [id, name]))
  }
})

const operationOf = (method: string) => operationsByMethod[method] ?? ([2, 'update'] as const)

/** Empty for secrets, and in entries of former releases. */
function renderValues(change: AuditedChange = 'changed') {
  const { from, to } = change === 'changed' ? {} : change
  return { from: renderValue(from), to: renderValue(to) }
}

function renderValue(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
