import { arrayOf, exactly, int64, string } from '../../../core/schemas.ts'
import { isoTime, nullableString } from '../../answer-schema.ts'
import { replaceRecord, shown } from '../../declare-record.ts'
import { toIsoTime } from '../people/broadcast.ts'

type AuditRow = {
  readonly id: number
  readonly at: number
  readonly key: { readonly name: string }
  readonly method: string
  readonly record: string
  readonly record_id: string
  readonly station_id: number
  readonly fields: readonly string[]
}

const operationsByMethod: Readonly<Record<string, readonly [number, string]>> = {
  POST: [1, 'insert'],
  PUT: [2, 'update'],
  DELETE: [3, 'delete']
}

/** The names of stations by id. */
type StationNames = ReadonlyMap<number, string>

/** A change. Its values are not stored. */
export const auditEntry = replaceRecord<AuditRow, StationNames>({
  members: {
    id: shown(int64, ({ id }) => id),
    timestamp: shown(isoTime, ({ at }) => toIsoTime(at)),
    operation: shown(int64, ({ method }) => operationOf(method)[0]),
    operationText: shown(string, ({ method }) => operationOf(method)[1]),
    class: shown(string, ({ record }) => record),
    identifier: shown(string, row => row.record_id),
    targetClass: shown(nullableString, row => (row.station_id === 0 ? null : 'Station')),
    target: shown(nullableString, (row, { facts }) => facts.get(row.station_id) ?? null),
    changes: shown(arrayOf(exactly({ field: string, from: string, to: string })), ({ fields }) =>
      fields.map(field => ({ field, from: '', to: '' }))
    ),
    user: shown(string, ({ key }) => key.name)
  },
  async read(rows, { sql }) {
    const stations = await sql<{ id: number; name: string }[]>`
      select id, name from stations where id = any(${rows.map(row => row.station_id)}::bigint[])`
    return new Map(stations.map(({ id, name }) => [id, name]))
  }
})

const operationOf = (method: string) => operationsByMethod[method] ?? ([2, 'update'] as const)
