import postgres from 'postgres'

import { closedConnectionsMetric } from '../../platform/metrics/postgres.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { postgresConnectionOptions } from './connections/connection-options.ts'
import type { QueryObserver } from './connections/query-observer.ts'

/** The connection pool. int8 arrives as a number: ids and epoch times are far below 2^53. */
export type Sql = postgres.Sql<{ bigint: number }>
/** A transaction; only queries made through it are part of it. */
export type Tx = postgres.TransactionSql<{ bigint: number }>
/** A statement or a part of one, which is not sent yet. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export interface SqlOptions {
  readonly max: number
  readonly name: string
  /** Timeout of a statement. */
  readonly statementSeconds?: number
  /** Called with each statement when it is sent. */
  readonly onQuery?: QueryObserver | undefined
}

/** How much longer than a statement's timeout its response is awaited. */
const responseMarginSeconds = 1
/** Idle seconds before TCP keep-alive probes; ten probes, one per second. */
const keepAliveSeconds = 3

/**
 * Opens a pool; connects with the first query. Timeouts: statements 8 seconds unless configured, locks 3.5 (a
 * second waiter may wait twice), idle transactions 8, silently lost connections 15. Throws an `OperatorError`
 * if the package lacks its patch.
 */
export function openSql(url: string, { max, name, statementSeconds = 8, onQuery }: SqlOptions): Sql {
  assertPatched()
  return postgres({
    ...postgresConnectionOptions(url, name, {
      statement_timeout: statementSeconds * 1_000,
      lock_timeout: 3_500,
      idle_in_transaction_session_timeout: 8_000,
      // The statements are few and look up by key: planning each time costs more than running them.
      plan_cache_mode: 'force_generic_plan',
      // One statement must not use several cores.
      max_parallel_workers_per_gather: 0
    }),
    max,
    ...(onQuery === undefined ? {} : { onquery: onQuery }),
    answer_timeout: statementSeconds + responseMarginSeconds,
    keep_alive: keepAliveSeconds,
    onnotice: () => {},
    onclose: () => void closedConnectionsMetric.value++,
    types: {
      bigint: { to: 20, from: [20], serialize: (x: number) => String(x), parse: (x: string) => Number(x) }
    }
  })
}

/** Without the patch, a lost connection can end the process or send statements outside their transaction. */
function assertPatched(): void {
  // Set by the patch; raised when the patch changes.
  if (Reflect.get(postgres, 'cuewirePatch') === 8) return
  throw new OperatorError(
    'the package postgres lacks patches/postgres+3.4.9.patch: run npm ci without --ignore-scripts, and npm run build'
  )
}
