import type { Sql, Tx } from '../../db/sql.ts'
import { withoutSecret } from '../auth/keys.ts'
import type { ApiRequest } from './route.ts'

/** What was changed: the kind of record, its id, and the names of the fields. Values never get here. */
export interface AuditEntry {
  readonly record: string
  readonly id: number | string
  readonly fields?: readonly string[]
}

/** Writes down who changed what, as part of the change where it has a transaction. */
export async function recordAudit(tx: Sql | Tx, request: ApiRequest, change: AuditEntry): Promise<void> {
  const { caller, method, path } = request
  const stationId = caller?.station?.id ?? (change.record === 'Station' ? Number(change.id) : null)
  await tx`
    insert into audit_log (key_id, key_name, method, path, record, record_id, station_id, fields)
    values (${caller?.key?.id ?? null}, ${caller?.key?.name ?? ''}, ${method}, ${withoutSecret(path).slice(0, 500)}, ${change.record},
      ${String(change.id)}, ${stationId}, ${tx.json([...(change.fields ?? [])])})`
}
