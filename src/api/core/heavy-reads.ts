import { setImmediate } from 'node:timers/promises'

import { addressLimitKeyOf } from '../../platform/outbound/networks.ts'
import { ApiError, errorCodeOf, Overloaded, TooManyRequests } from '../../platform/runtime/errors.ts'
import { openFairSemaphore, type PermitRefusal } from '../../platform/runtime/fair-semaphore.ts'
import { poolSizes } from '../../stores/db/connections/connection-budget.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'
import { type ApiKey, callerRateLimitName } from '../auth/key-checker.ts'

/** The part of an `ApiRequest` that a heavy read depends on. */
interface ReadRequest {
  readonly address: string
  readonly caller: { readonly key: Pick<ApiKey, 'id' | 'user'> | null } | null
  readonly isOpen: () => boolean
  readonly onSettled: (callback: () => void) => void
}

/** Runs the statements of a heavy read. Postgres cancels them when the client leaves. */
export interface HeavyRead {
  readonly rows: <Row extends object>(statement: Fragment) => Promise<readonly Row[]>
  /** Yields a hundred rows at a time. Other statements of this read wait until the end. */
  readonly batches: <Row extends object>(statement: Fragment) => AsyncIterable<readonly Row[]>
}

const limits = { perOwner: 2, waitingPerOwner: 30, waiting: 300, waitMs: 6_000 }
/**
 * A read that is not light may occupy a core of Postgres, so visitors have one at a time. Statements outside of heavy
 * reads share the pool: they wait for the end of a light read of a visitor, which takes milliseconds.
 */
const visitorLimits = {
  light: { ...limits, total: poolSizes.server.publicReads - 1 },
  heavy: { ...limits, total: 1 }
}
/** Leaves a connection to statements outside of heavy reads. */
const keyLimits = { light: { ...limits, total: poolSizes.server.reads - 3 }, heavy: { ...limits, total: 2 } }

/** Rows that are fetched and rendered in one time slice. */
const rowsPerBatch = 100
/** Rough estimates that separate large from small reads. A heavy read also reads rows it filters out. */
const estimates = { lightMs: 1, heavyMs: 50, msPerRow: 0.05 }
const retryAfterSeconds = 2

/**
 * Limits the heavy reads of a server process: those whose cost grows with the amount of data, such as lists, exports
 * and series. Visitors have no key. The pools have at least as many connections as reads may run
 * (`connection-budget.ts`).
 */
export function openHeavyReads({ visitors, keys }: { readonly visitors: Sql; readonly keys: Sql }) {
  const open = ({ light, heavy }: typeof visitorLimits) => ({
    light: openFairSemaphore(light),
    heavy: openFairSemaphore(heavy)
  })
  const semaphores = { visitors: open(visitorLimits), keys: open(keyLimits) }

  /**
   * Runs a read on connections that changes and key checks do not use. `isLight`: an index finds its rows,
   * and they are few. `rows` is their approximate number: smaller reads run first, and light reads do not wait
   * for others. Limits count per address, or per key on keyed routes, until the response is sent. Throws 429
   * above the limit of the caller, and 503 if the server is full or a statement exceeds its timeout.
   */
  async function run<Result>(
    request: ReadRequest,
    { isLight, rows }: { readonly isLight: boolean; readonly rows: number },
    work: (read: HeavyRead) => Promise<Result>
  ): Promise<Result> {
    const key = request.caller?.key ?? null
    const { light, heavy } = key === null ? semaphores.visitors : semaphores.keys
    const owner = key === null ? addressLimitKeyOf(request.address) : callerRateLimitName(key)
    const expectedMs = (isLight ? estimates.lightMs : estimates.heavyMs) + rows * estimates.msPerRow
    const { permit, drop } = (isLight ? light : heavy).acquire(owner, expectedMs)
    request.onSettled(drop)
    const granted = await permit
    if (typeof granted === 'string') throw errorFor(granted)
    try {
      return await runReadOnly(key === null ? visitors : keys, request, work)
    } finally {
      granted.done()
      // The response stays in memory until the client has read it.
      request.onSettled(granted.release)
    }
  }

  return { run }
}

export type HeavyReads = ReturnType<typeof openHeavyReads>

async function runReadOnly<Result>(
  pool: Sql,
  request: ReadRequest,
  work: (read: HeavyRead) => Promise<Result>
): Promise<Result> {
  try {
    // Wrapped in an object, because `begin` unpacks arrays of promises.
    const { result } = await pool.begin('read only', async tx => ({
      result: await readIn(tx, request, work)
    }))
    return result
  } catch (error) {
    if (!isCancelled(error)) throw error
    throw request.isOpen()
      ? new Overloaded(retryAfterSeconds, 'The query took too long: narrow it, or request fewer records.')
      : errorFor('dropped')
  }
}

function errorFor(refusal: PermitRefusal): ApiError {
  if (refusal === 'dropped') return new ApiError('invalid', 'The client left.')
  const message = 'Too many lists are requested at once: try again later.'
  return refusal === 'owner-full'
    ? new TooManyRequests(retryAfterSeconds, message)
    : new Overloaded(retryAfterSeconds, message)
}

const isCancelled = (error: unknown) => errorCodeOf(error) === '57014'

async function readIn<Result>(
  tx: Tx,
  request: ReadRequest,
  work: (read: HeavyRead) => Promise<Result>
): Promise<Result> {
  let current: { cancel: () => unknown } | null = null
  let cancellation: unknown
  request.onSettled(() => {
    cancellation = current?.cancel()
  })
  function start<Row extends object>(statement: Fragment) {
    if (!request.isOpen()) throw errorFor('dropped')
    const query = tx<Row[]>`${statement}`
    current = query
    return query
  }

  async function rows<Row extends object>(statement: Fragment): Promise<readonly Row[]> {
    try {
      return await start<Row>(statement)
    } finally {
      current = null
    }
  }

  async function* batches<Row extends object>(statement: Fragment): AsyncIterable<readonly Row[]> {
    try {
      for await (const batch of start<Row>(statement).cursor(rowsPerBatch)) {
        yield batch
        await setImmediate()
        if (!request.isOpen()) throw errorFor('dropped')
      }
    } finally {
      current = null
    }
  }

  try {
    return await work({ rows, batches })
  } finally {
    // The connection must not run another statement before Postgres has handled the cancellation.
    await Promise.resolve(cancellation).catch(() => {})
  }
}
