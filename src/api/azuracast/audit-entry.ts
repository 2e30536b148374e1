import { toIsoTime } from './broadcast.ts'
import type { RecordDialect } from './record-dialect.ts'

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
  render: rows =>
    rows.map(row => {
      const [operation, operationText] = operationsByMethod[row.method] ?? [2, 'update']
      return {
        id: row.id,
        timestamp: toIsoTime(row.at),
        operation,
        operationText,
        class: row.record,
        identifier: row.record_id,
        targetClass: row.station_id === 0 ? null : 'Station',
        target: row.station_id === 0 ? null : String(row.station_id),
        changes: row.fields.map(field => ({ field, from: '', to: '' })),
        user: row.key.name
      }
    })
}
