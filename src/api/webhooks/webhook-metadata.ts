import type { Sql, Tx } from '../../db/sql.ts'
import type { NamedValue } from '../../fields/named-values.ts'

/** What of a hook decides its state. */
export interface HookState {
  readonly id: number
  readonly isEnabled: boolean
  readonly isDraft: boolean
  readonly isRetired: boolean
}

/**
 * The metadata of hooks by id: their state and how their deliveries went. `last_message_sent` is in Unix
 * seconds, `last_status` the HTTP status of the last attempt; 0 where there was none.
 */
export async function readMetadata(
  sql: Sql | Tx,
  hooks: readonly HookState[]
): Promise<ReadonlyMap<number, NamedValue[]>> {
  const rows = await sql<Deliveries[]>`
    select id, is_auto_disabled as "isAutoDisabled", last_message_sent, last_status, consecutive_failures,
      (select count(*) from webhook_deliveries d where d.webhook_id = w.id and d.state = 'pending') as pending
    from webhooks w where id = any(${hooks.map(({ id }) => id)}::bigint[])`
  const deliveries = new Map(rows.map(row => [row.id, row]))
  return new Map(hooks.map(hook => [hook.id, metadataOf(hook, deliveries.get(hook.id))]))
}

interface Deliveries {
  readonly id: number
  readonly isAutoDisabled: boolean
  readonly last_message_sent: number
  readonly last_status: number
  readonly consecutive_failures: number
  readonly pending: number
}

function metadataOf(hook: HookState, deliveries: Deliveries | undefined): NamedValue[] {
  return [
    { key: 'state', value: stateOf(hook, deliveries?.isAutoDisabled ?? false) },
    { key: 'last_message_sent', value: deliveries?.last_message_sent ?? 0 },
    { key: 'last_status', value: deliveries?.last_status ?? 0 },
    { key: 'consecutive_failures', value: deliveries?.consecutive_failures ?? 0 },
    { key: 'pending', value: deliveries?.pending ?? 0 }
  ]
}

/** `active` says that it could deliver: whether it does, `is_enabled` tells. */
function stateOf({ isRetired, isEnabled, isDraft }: HookState, isAutoDisabled: boolean): string {
  if (isRetired) return 'retired'
  if (isAutoDisabled && !isEnabled) return 'auto_disabled'
  return isDraft ? 'draft' : 'active'
}
