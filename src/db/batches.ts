import type { Fragment, Sql } from './sql.ts'

/** Rows that one statement removes: few enough that its locks and its WAL delay nobody. */
const rowsPerBatch = 5_000
const batchesPerRun = 200

/**
 * The limit of a statement that removes a batch. The number is in its text: for a parameter Postgres expects
 * a tenth of the table, and reads all of it.
 */
export const batchLimit = (sql: Sql): Fragment => sql.unsafe(`limit ${rowsPerBatch}`)

/** What a run of batches has done; what is too much for one run is left to the next. */
export interface Removal {
  readonly rows: number
  readonly isComplete: boolean
}

/**
 * Repeats a statement that removes up to `rowsPerBatch` rows until it finds fewer, or this was enough for one
 * run.
 */
export async function removeInBatches(
  remove: () => PromiseLike<{ readonly count: number }>
): Promise<Removal> {
  let rows = 0
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const { count } = await remove()
    rows += count
    if (count < rowsPerBatch) return { rows, isComplete: true }
  }
  return { rows, isComplete: false }
}
