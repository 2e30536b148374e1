import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Tx } from './sql.ts'

/** The rows of one table, sent with COPY in its text format. */
export interface CopyIn {
  /** Pieces need not end with a row. */
  readonly write: (piece: Buffer) => Promise<void>
  /** Resolves when Postgres has stored all rows; rejects with an `OperatorError` if it refused them. */
  readonly end: () => Promise<void>
  /** Ends it without the rows, so that the transaction can be rolled back. */
  readonly abort: () => void
}

/** Starts a COPY to a table. No other statement of the transaction may run until it has ended. */
export async function openCopyIn(tx: Tx, table: string, columns: readonly string[]): Promise<CopyIn> {
  const list = columns.map(column => `"${column}"`).join(', ')
  // With the extended protocol, Postgres waits for another message after an error, which the package does not send.
  const target = await tx.unsafe(`copy "${table}" (${list}) from stdin`).simple().writable()
  const failed = new Promise<never>((_, reject) => target.once('error', reject))
  failed.catch(() => {})
  return {
    async write(piece) {
      if (target.write(piece)) return
      await Promise.race([failed, new Promise(resolve => target.once('drain', () => resolve(null)))])
    },
    async end() {
      // The package does not report an error that comes after the last piece, so the next statement shows it.
      const refused = new Promise<never>((_, reject) => {
        // oxlint-disable-next-line no-underscore-dangle
        const final = target._final.bind(target)
        // oxlint-disable-next-line no-underscore-dangle
        target._final = done => {
          final(done)
          tx`select 1`.catch((error: unknown) =>
            reject(
              new OperatorError(`Postgres refused rows of the table ${table}; its log says why`, {
                cause: error
              })
            )
          )
        }
      })
      refused.catch(() => {})
      const finished = new Promise(resolve => target.once('finish', () => resolve(null)))
      target.end()
      await Promise.race([failed, refused, finished])
    },
    abort: () => void target.destroy(new Error('aborted'))
  }
}
