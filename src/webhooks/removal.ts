import { batchLimit, removeInBatches } from '../db/batches.ts'
import type { Sql } from '../db/sql.ts'

const hooksPerRun = 10

/**
 * Removes the deliveries of web hooks that were deleted, with their attempts. It may run in any number of processes; what is too much for one run is
 * left to the next. Returns how many deliveries.
 */
export async function removeDeletedDeliveries(sql: Sql): Promise<number> {
  const hooks = await sql<{ id: number }[]>`select id from deleted_webhooks order by id limit ${hooksPerRun}`
  let removed = 0
  for (const { id } of hooks) {
    const { rows, isComplete } = await removeInBatches(
      () => sql`
        delete from webhook_deliveries where ctid = any(array(
          select ctid from webhook_deliveries where webhook_id between ${id} and ${id}
          order by webhook_id, id desc ${batchLimit(sql)} for update skip locked))`
    )
    removed += rows
    // A row that was locked is left: then the hook stays noted.
    if (isComplete)
      await sql`
        delete from deleted_webhooks where id = ${id}
          and not exists (select from webhook_deliveries where webhook_id = ${id})`
  }
  return removed
}
