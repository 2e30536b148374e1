import type { Fragment, Sql, Tx } from './sql.ts'

/** Rows per statement: few enough that its locks and its WAL do not delay others. */
const rowsPerBatch = 5_000
const batchesPerRun = 200

/** `limit` as part of the text: for a parameter Postgres estimates a tenth of the table, and plans to read all of it. */
export const literalLimit = (sql: Sql | Tx, rows: number): Fragment => sql.unsafe(`limit ${rows}`)

export const batchLimitFragment = (sql: Sql): Fragment => literalLimit(sql, rowsPerBatch)

/** Repeats a statement that removes up to `rowsPerBatch` rows until it removes fewer, or the run ends. */
export async function removeInBatches(remove: () => PromiseLike<{ readonly count: number }>) {
  let rows = 0
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const { count } = await remove()
    rows += count
    if (count < rowsPerBatch) return { rows, isComplete: true }
  }
  return { rows, isComplete: false }
}
