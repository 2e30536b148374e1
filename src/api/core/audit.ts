import { redactKeys } from '../../platform/runtime/redact-keys.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { ApiRequest } from './route.ts'

/** A changed record: its kind, its id, and the names of the changed fields, never their values. */
export interface AuditEntry {
  readonly record: string
  readonly id: number | string
  readonly fields?: readonly string[]
}

/** Writes an entry of the audit log, in the transaction of the change if it has one. */
export async function recordAudit(tx: Sql | Tx, request: ApiRequest, change: AuditEntry): Promise<void> {
  const { caller, method, path } = request
  const stationId = caller?.station?.id ?? (change.record === 'Station' ? Number(change.id) : null)
  await tx`
    insert into audit_log (key_id, key_name, method, path, record, record_id, station_id, fields)
    values (${caller?.key?.id || null}, ${caller?.key?.name ?? ''}, ${method}, ${withoutLostCharacters(redactKeys(path)).slice(0, 500)}, ${change.record},
      ${String(change.id)}, ${stationId}, ${tx.json([...(change.fields ?? [])])})`
}
