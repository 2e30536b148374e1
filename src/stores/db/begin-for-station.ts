import { Overloaded } from '../../platform/runtime/errors.ts'
import { type FairSemaphore, openFairSemaphore } from '../../platform/runtime/fair-semaphore.ts'
import type { Sql, Tx } from './sql.ts'

const limits = { total: Infinity, perOwner: 2, waitingPerOwner: 500, waiting: 5_000, waitMs: 6_000 }
const retryAfterSeconds = 5

const semaphores = new WeakMap<Sql, FairSemaphore>()

export interface StationTransactionOptions {
  /**
   * Sends the statements up to the first `await` together with `begin`. They must not write, because they run
   * outside a transaction if `begin` fails.
   */
  readonly isPipelined?: boolean
}

/**
 * Runs a transaction that locks rows of a station, two at a time per station and pool; others wait without a
 * connection. Throws `Overloaded` after six seconds, and if too many wait. Must not be nested.
 */
export async function beginForStation<Result>(
  sql: Sql,
  stationId: number,
  work: (tx: Tx) => Promise<Result>,
  { isPipelined = false }: StationTransactionOptions = {}
) {
  const permit = await getSemaphore(sql).acquire(String(stationId), 0).permit
  if (typeof permit === 'string')
    throw new Overloaded(retryAfterSeconds, 'Other changes of this station take too long: try again later.')
  try {
    // The option is one of our patch of the package.
    return await sql.begin(isPipelined ? 'pipelined' : '', work)
  } finally {
    permit.release()
  }
}

/** Runs a transaction; if it locks rows of a station, as `beginForStation` does. */
export const beginWriteTransaction = <Result>(
  sql: Sql,
  stationId: number | null,
  work: (tx: Tx) => Promise<Result>
) => (stationId === null ? sql.begin(work) : beginForStation(sql, stationId, work))

/**
 * Runs one pipelined transaction for those of the stations whose permit is free now, without waiting. Returns
 * null if there are none.
 */
export async function beginForFreeStations<Result>(
  sql: Sql,
  stationIds: readonly number[],
  work: (tx: Tx, stationIds: readonly number[]) => Promise<Result>
) {
  const semaphore = getSemaphore(sql)
  const free = stationIds.flatMap(id => {
    const permit = semaphore.tryAcquire(String(id))
    return permit ? [{ id, permit }] : []
  })
  if (free.length === 0) return null
  try {
    const freeIds = free.map(({ id }) => id)
    return await sql.begin('pipelined', async tx => work(tx, freeIds))
  } finally {
    for (const { permit } of free) permit.release()
  }
}

function getSemaphore(sql: Sql): FairSemaphore {
  const semaphore = semaphores.get(sql) ?? openFairSemaphore(limits)
  semaphores.set(sql, semaphore)
  return semaphore
}
