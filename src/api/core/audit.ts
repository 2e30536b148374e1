import { redactKeys } from '../../platform/runtime/redact-keys.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { type AuditedChanges, auditedName, storedChanges } from './audited-changes.ts'
import type { ApiRequest } from './route.ts'

/** A changed record for the audit log. */
export interface AuditEntry {
  /** The kind of record. */
  readonly record: string
  readonly id: number | string
  /** The name by which people know the record. The default is that of a station, and none for other records. */
  readonly name?: string | undefined
  readonly changes?: AuditedChanges
}

/** Writes an entry of the audit log, in the transaction of the change if it has one. */
export async function recordAudit(tx: Sql | Tx, request: ApiRequest, entry: AuditEntry): Promise<void> {
  const { caller, method, path } = request
  const stationId = caller?.station?.id ?? (entry.record === 'Station' ? Number(entry.id) : null)
  const changes = storedChanges(entry.changes ?? {})
  // A deletion has values, but changes none.
  const fields = Object.keys(changes).filter(name => {
    const change = changes[name]
    return change === 'changed' || (change && 'to' in change)
  })
  const stationName = tx`(select name from stations where id = ${stationId}::bigint)`
  const isNamedStation = entry.record === 'Station' && entry.name === undefined
  await tx`
    insert into audit_log (key_id, key_name, method, path, record, record_id, record_name, station_id, station_name, fields,
      changes)
    values (${caller?.key?.id || null}, ${caller?.key?.name ?? ''}, ${method},
      ${withoutLostCharacters(redactKeys(path)).slice(0, 500)}, ${entry.record}, ${auditedName(entry.id)},
      ${isNamedStation ? stationName : auditedName(entry.name ?? '')}, ${stationId}, ${stationName},
      ${tx.json(fields)}, ${JSON.stringify(changes)}::text::jsonb)`
}
