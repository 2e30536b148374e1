import { setImmediate } from 'node:timers/promises'

import type { Fragment, Sql, Tx } from '../../db/sql.ts'
import { ownerOf } from '../../outbound/networks.ts'
import { ApiError, Overloaded, TooManyRequests } from '../../runtime/errors.ts'
import {
  type FairSemaphore,
  openFairSemaphore,
  type FairSemaphoreOptions,
  type PermitRefusal
} from '../../runtime/fair-semaphore.ts'
import type { ApiRequest } from './route.ts'

/** Statements of one heavy read. They end in Postgres too when the client leaves. */
export interface HeavyRead {
  readonly rows: <Row extends object>(statement: Fragment) => Promise<readonly Row[]>
  /** The same, a hundred rows at a time. Other statements of this read wait until it ends. */
  readonly batches: <Row extends object>(statement: Fragment) => AsyncIterable<readonly Row[]>
}

/** Reads whose cost grows with what is stored: lists, exports, series. */
export interface HeavyReads {
  /**
   * Runs a read on connections that key checks and other reads never wait for. Limits count per address, or
   * per key on keyed routes, until the answer is sent. Light reads never wait for others. Throws 429 above
   * the caller's limit, and 503 where the server has no room or a statement exceeds its timeout.
   */
  readonly run: <Result>(
    request: ApiRequest,
    options: HeavyReadOptions,
    work: (read: HeavyRead) => Promise<Result>
  ) => Promise<Result>
}

export interface HeavyReadOptions {
  /** Whether an index finds its rows, and they are few. */
  readonly isLight: boolean
  /** About how many rows it returns: of those that wait, the smaller ones run first. */
  readonly rows: number
}

/** The pools of heavy reads: of visitors without a key, and of keys. */
export interface HeavyReadPools {
  readonly visitors: Sql
  readonly keys: Sql
}

const limits = { perOwner: 2, waitingPerOwner: 30, waiting: 300, waitMs: 6_000 }
/** A read that is not light may keep a core of Postgres busy: visitors get one. */
const ofVisitors = { light: { ...limits, total: 1 }, heavy: { ...limits, total: 1 } }
const ofKeys = { light: { ...limits, total: 3 }, heavy: { ...limits, total: 2 } }

/** How many connections each pool needs. */
export const heavyReadConnections = {
  visitors: ofVisitors.light.total + ofVisitors.heavy.total,
  keys: ofKeys.light.total + ofKeys.heavy.total
}

/**
 * How many rows are fetched and rendered before other requests may run: few, so that little is kept from one
 * to the next.
 */
const rowsPerBatch = 100
/**
 * Estimates that only have to tell large reads from small ones. One that is not light also reads what it does
 * not return.
 */
const expected = { lightMs: 1, heavyMs: 50, msPerRow: 0.05 }
const retryAfterSeconds = 2

const openLimits = (options: { light: FairSemaphoreOptions; heavy: FairSemaphoreOptions }) => ({
  light: openFairSemaphore(options.light),
  heavy: openFairSemaphore(options.heavy)
})

/** Limits the heavy reads of a server process; both pools have `heavyReadConnections`. */
export function openHeavyReads({ visitors, keys }: HeavyReadPools): HeavyReads {
  const visitorLimits = openLimits(ofVisitors)
  const keyLimits = openLimits(ofKeys)

  return {
    run: (request, { isLight, rows }, work) => {
      const weight = isLight ? 'light' : 'heavy'
      const expectedMs = (isLight ? expected.lightMs : expected.heavyMs) + rows * expected.msPerRow
      const key = request.caller?.key ?? null
      return key === null
        ? run(
            {
              request,
              pool: visitors,
              limit: visitorLimits[weight],
              expectedMs,
              owner: ownerOf(request.address)
            },
            work
          )
        : run({ request, pool: keys, limit: keyLimits[weight], expectedMs, owner: String(key.id) }, work)
    }
  }
}

interface Run {
  readonly request: ApiRequest
  readonly pool: Sql
  readonly limit: FairSemaphore
  readonly expectedMs: number
  readonly owner: string
}

async function run<Result>(
  { request, pool, limit, expectedMs, owner }: Run,
  work: (read: HeavyRead) => Promise<Result>
): Promise<Result> {
  const { permit, drop } = limit.acquire(owner, expectedMs)
  request.onSettled(drop)
  const granted = await permit
  if (typeof granted === 'string') throw errorOf(granted)
  try {
    // In a box, because `begin` unpacks arrays of promises.
    const { result } = await pool.begin('read only', async tx => ({
      result: await readIn(tx, request, work)
    }))
    return result
  } catch (error) {
    if (!isCancelled(error)) throw error
    throw request.isOpen()
      ? new Overloaded(retryAfterSeconds, 'The query took too long: narrow it, or ask for fewer records.')
      : errorOf('dropped')
  } finally {
    granted.done()
    // A client that has not read its answer yet keeps that in memory.
    request.onSettled(granted.release)
  }
}

function errorOf(refusal: PermitRefusal): ApiError {
  if (refusal === 'dropped') return new ApiError('invalid', 'The client left.')
  const message = 'Too many lists are requested at once: try again later.'
  return refusal === 'owner-full'
    ? new TooManyRequests(retryAfterSeconds, message)
    : new Overloaded(retryAfterSeconds, message)
}

const isCancelled = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === '57014'

async function readIn<Result>(
  tx: Tx,
  request: ApiRequest,
  work: (read: HeavyRead) => Promise<Result>
): Promise<Result> {
  let current: { cancel: () => unknown } | null = null
  let cancelling: unknown
  request.onSettled(() => {
    cancelling = current?.cancel()
  })
  const assertOpen = () => {
    if (!request.isOpen()) throw errorOf('dropped')
  }

  async function rows<Row extends object>(statement: Fragment): Promise<readonly Row[]> {
    assertOpen()
    const query = tx<Row[]>`${statement}`
    current = query
    try {
      return await query
    } finally {
      current = null
    }
  }

  async function* batches<Row extends object>(statement: Fragment): AsyncIterable<readonly Row[]> {
    assertOpen()
    const query = tx<Row[]>`${statement}`
    current = query
    try {
      for await (const batch of query.cursor(rowsPerBatch)) {
        yield batch
        await setImmediate()
        assertOpen()
      }
    } finally {
      current = null
    }
  }

  try {
    return await work({ rows, batches })
  } finally {
    // The connection must not go on to another statement before Postgres has handled the cancellation.
    await Promise.resolve(cancelling).catch(() => {})
  }
}
