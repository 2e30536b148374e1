import type { Sql, Tx } from './sql.ts'

/** How a notification is presented. */
export const notificationTypes = ['info', 'success', 'warning', 'danger'] as const

/**
 * Operators, or a part of the system. Who may read a notification depends on it (`src/api/auth/access.ts`).
 */
export const notificationSources = [
  'operator',
  'broadcast',
  'playout',
  'storage',
  'webhooks',
  'system'
] as const

export type NotificationSource = (typeof notificationSources)[number]

/** A notification that the system raises and resolves. */
export interface NewAlert {
  /** Identifies the problem; the same each time it is detected: `station-silent:7`. */
  readonly key: string
  /** Truncated to 200 characters. */
  readonly title: string
  readonly body: string
  readonly type: (typeof notificationTypes)[number]
  /** The part of the system that detected it. */
  readonly source: Exclude<NotificationSource, 'operator'>
}

/** Raises an alert. Idempotent until it is resolved, across processes. Returns whether it is new. */
export async function raiseAlert(sql: Sql | Tx, raised: NewAlert): Promise<boolean> {
  const { count } = await sql`
    with fact as (
      insert into open_facts (fact, notification_id) values (${raised.key}, gen_random_uuid()::text)
      on conflict (fact) do nothing returning notification_id
    )
    insert into notifications (notification_id, title, body, type, source)
    select notification_id, left(${raised.title}, 200), ${raised.body}, ${raised.type}, ${raised.source} from fact`
  return count > 0
}

/**
 * Resolves an alert, so that it can be raised again. A database trigger adds the time to its notification. Returns
 * whether it was raised.
 */
export async function resolveAlert(sql: Sql | Tx, key: string): Promise<boolean> {
  const { count } = await sql`delete from open_facts where fact = ${key}`
  return count > 0
}

/** Formats a time for a notification: `2026-07-08 12:00 UTC`; `an unknown time` if it is out of range. */
export function formatUtcMinute(atMs: number): string {
  const at = new Date(atMs)
  return Number.isNaN(at.getTime())
    ? 'an unknown time'
    : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
