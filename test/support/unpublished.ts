import type { Sql, Tx } from '../../src/db/sql.ts'

/**
 * Changes stations as a process does that dies between the commit and the publication: the statements raise
 * revisions themselves.
 */
export async function changeUnpublished(sql: Sql, change: (tx: Tx) => PromiseLike<unknown>): Promise<void> {
  await sql.begin(async tx => {
    await tx`select set_config('cuewire.raises_revision', 'on', true)`
    await change(tx)
  })
}
