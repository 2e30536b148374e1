import { arrayOf, exactly, int64, string } from '../../../core/schemas.ts'
import { isoTime, nullableString, replaceSchema } from '../../answer-schema.ts'
import type { RecordDialect } from '../../record-dialect.ts'
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

/** A change. Its values are not stored. */
export const auditEntry: RecordDialect<AuditRow> = {
  answer: replaceSchema({
    id: int64,
    timestamp: isoTime,
    operation: int64,
    operationText: string,
    class: string,
    identifier: string,
    targetClass: nullableString,
    target: nullableString,
    changes: arrayOf(exactly({ field: string, from: string, to: string })),
    user: string
  }),
  async render(rows, { sql }) {
    const stations = await sql<{ id: number; name: string }[]>`
      select id, name from stations where id = any(${rows.map(row => row.station_id)}::bigint[])`
    const names = new Map(stations.map(({ id, name }) => [id, name]))
    return rows.map(row => {
      const [operation, operationText] = operationsByMethod[row.method] ?? [2, 'update']
      return {
        id: row.id,
        timestamp: toIsoTime(row.at),
        operation,
        operationText,
        class: row.record,
        identifier: row.record_id,
        targetClass: row.station_id === 0 ? null : 'Station',
        target: names.get(row.station_id) ?? null,
        changes: row.fields.map(field => ({ field, from: '', to: '' })),
        user: row.key.name
      }
    })
  }
}
