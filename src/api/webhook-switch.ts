import type { Tx } from '../db/sql.ts'
import { settleNotification } from '../notifications.ts'
import { disabledFact } from '../webhooks/deliveries.ts'

/** What follows when a hook is switched on: nothing that went wrong before counts any more. */
export async function forgetFailures(tx: Tx, webhookId: number): Promise<void> {
  await tx`
    update webhooks set is_auto_disabled = false, consecutive_failures = 0, failing_since_ms = null, pauses = 0,
      paused_until_ms = 0
    where id = ${webhookId}`
  await settleNotification(tx, disabledFact(webhookId))
}
