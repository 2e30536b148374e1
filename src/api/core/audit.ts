import { isDeepStrictEqual } from 'node:util'

import type { Field, Fields } from '../../model/fields/field.ts'
import { redactKeysInPath } from '../../platform/runtime/redact-keys.ts'
import { withoutLostCharacters } from '../../platform/text/foreign-text.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { addressStart, redactAddress, redactLocation } from '../../webhooks/redact.ts'
import type { ApiRequest } from './route.ts'

/**
 * The value of a field before and after a change; only one of them if the record was created or deleted. `changed`: the
 * values are secret, or too many to keep.
 */
export type AuditedChange = 'changed' | { readonly from?: unknown; readonly to?: unknown }

/** The changed fields of a record, by name. */
export type AuditedChanges = Readonly<Record<string, AuditedChange>>

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
  const changes = redactAuditedChanges(entry.changes ?? {})
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
      ${withoutLostCharacters(redactKeysInPath(path)).slice(0, 500)}, ${entry.record}, ${toAuditedName(entry.id)},
      ${isNamedStation ? stationName : toAuditedName(entry.name ?? '')}, ${stationId}, ${stationName},
      ${tx.json(fields)}, ${JSON.stringify(changes)}::text::jsonb)`
}

type Values = Readonly<Record<string, unknown>>

/** Changes of fields whose values the audit log does not keep. */
export const changedWithoutValues = (...names: readonly string[]): AuditedChanges =>
  Object.fromEntries(names.map(name => [name, 'changed'] as const))

/** Names of the writable fields that differ between two records; null is the record with the defaults. */
export function findChangedFields(fields: Fields, before: Values | null, after: Values | null): string[] {
  const valueIn = (record: Values | null, name: string) => record?.[name] ?? fields[name]?.fallback
  return Object.keys(fields).filter(
    name =>
      fields[name]?.kind !== 'read-only' && !isDeepStrictEqual(valueIn(before, name), valueIn(after, name))
  )
}

/** What an audit entry says about changed fields. `before` null: the record is created; `after` null: it is deleted. */
export function toAuditedChanges(
  fields: Fields,
  before: Values | null,
  after: Values | null,
  names: readonly string[] = findChangedFields(fields, before, after)
): AuditedChanges {
  return Object.fromEntries(
    names.flatMap((name): [string, AuditedChange][] => {
      const field = fields[name]
      if (!field) return []
      // Nothing of a deleted secret is worth telling.
      if (!isAudited(field)) return after === null ? [] : [[name, 'changed']]
      const from = before && { from: auditedValue(field, before[name]) }
      const to = after && { to: auditedValue(field, after[name]) }
      return [[name, { ...from, ...to }]]
    })
  )
}

const isAudited = ({ kind, isUnaudited }: Field<unknown>) => kind !== 'secret' && isUnaudited !== true

const auditedValue = ({ kind }: Field<unknown>, value: unknown): unknown =>
  kind === 'private address' && typeof value === 'string' ? redactLocation(value) : (value ?? null)

/**
 * A copy without API keys, without users, queries and fragments of URLs, which may be or contain secrets, and without
 * characters that cannot be stored, which names of files may have.
 */
function redact(value: unknown): unknown {
  if (typeof value === 'string')
    return withoutLostCharacters(
      redactKeysInPath(addressStart.test(value) ? redactAddress(value, true) : value)
    )
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redact(each)]))
}

/** The name or id of a record, as the audit log shows it. */
export const toAuditedName = (name: string | number): string =>
  truncateValue(String(redact(String(name))), maxNameLength)

const maxNameLength = 200
/** A page of the audit log has up to 500 entries, and a response 8 MiB. */
const maxBytes = 8_192
const longestValue = 2_000

/**
 * Returns changes as they are stored: secrets in texts are redacted, and values are shortened until all together
 * take at most 8 KiB. A shortened value is text that ends with `…`.
 */
export function redactAuditedChanges(changes: AuditedChanges): AuditedChanges {
  const redacted = mapValues(changes, redact)
  const shown = Object.fromEntries(
    Object.entries(redacted).map(([name, change]) => [name, isHidden(change) ? 'changed' : change])
  )
  for (let length = longestValue; ; length = length >> 1) {
    const limited = mapValues(shown, value => shorten(value, length))
    if (length === 0 || Buffer.byteLength(JSON.stringify(limited)) <= maxBytes) return limited
  }
}

/** Whether only what was redacted differs. */
const isHidden = (change: AuditedChange): boolean =>
  change !== 'changed' && 'from' in change && isDeepStrictEqual(change.from, change.to)

const mapValues = (changes: AuditedChanges, map: (value: unknown) => unknown): AuditedChanges =>
  Object.fromEntries(
    Object.entries(changes).map(([name, change]) => {
      if (change === 'changed') return [name, change]
      const values = Object.entries(change).map(([side, value]) => [side, map(value)])
      return [name, Object.fromEntries(values)]
    })
  )

function shorten(value: unknown, length: number): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= length ? value : truncateValue(text, length)
}

/** Half of a surrogate pair is no character. */
const truncateValue = (text: string, length: number) =>
  text.length <= length ? text : `${withoutLostCharacters(text.slice(0, length))}…`
