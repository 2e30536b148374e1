import type { Sql, Tx } from '../../src/stores/db/sql.ts'

/**
 * Changes stations like a process that dies between commit and publication: the statements must raise
 * revisions.
 */
export async function changeUnpublished(sql: Sql, change: (tx: Tx) => PromiseLike<unknown>): Promise<void> {
  await sql.begin(async tx => {
    await tx`select set_config('cuewire.raises_revision', 'on', true)`
    await change(tx)
  })
}

/** Lets all epochs appear to have started long ago, so that new ones may begin. */
export const settleEpochs = (sql: Sql) => sql`update stations set epoch_since = '-infinity'`
