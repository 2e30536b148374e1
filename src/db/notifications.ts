import type { Sql, Tx } from './sql.ts'

/** How a notification is presented. */
export const notificationTypes = ['info', 'success', 'warning', 'danger'] as const

/**
 * Where notifications come from: operators, or a part of the system. Who may read them depends on it
 * (`api/access.ts`).
 */
export const notificationSources = ['operator', 'broadcast', 'playout', 'storage', 'webhooks'] as const

export type NotificationSource = (typeof notificationSources)[number]

/** What the system tells the operators of itself. */
export interface NewAlert {
  /** What it is about, the same each time it is noticed: `station-silent:7`. */
  readonly fact: string
  /** At most 200 characters are kept. */
  readonly title: string
  readonly body: string
  readonly type: (typeof notificationTypes)[number]
  /** The part of the system that noticed. */
  readonly source: Exclude<NotificationSource, 'operator'>
}

/**
 * Notifies operators of a fact, once until the alert is resolved, however often and by however many processes
 * it is raised. Returns whether it was new.
 */
export async function raiseAlert(sql: Sql | Tx, raised: NewAlert): Promise<boolean> {
  const { count } = await sql`
    with fact as (
      insert into open_facts (fact) values (${raised.fact}) on conflict (fact) do nothing returning fact
    )
    insert into notifications (title, body, type, source)
    select left(${raised.title}, 200), ${raised.body}, ${raised.type}, ${raised.source} from fact`
  return count > 0
}

/** Resolves an alert, so that it may be raised again. */
export async function resolveAlert(sql: Sql | Tx, fact: string): Promise<void> {
  await sql`delete from open_facts where fact = ${fact}`
}
