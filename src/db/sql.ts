import postgres from 'postgres'

import { OperatorError } from '../runtime/errors.ts'

/** The connection pool. int8 arrives as a number: ids and epoch times are far below 2^53. */
export type Sql = postgres.Sql<{ bigint: number }>
/** A transaction; only queries made through it are part of it. */
export type Tx = postgres.TransactionSql<{ bigint: number }>
/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export interface SqlOptions {
  readonly max: number
  readonly name: string
  /** How many seconds a statement may take. */
  readonly statementSeconds?: number
}

/** How much longer than a statement may take its answer is waited for. */
const answerMarginSeconds = 1
/**
 * How long a connection that was lost waits before it is made again, in seconds. The package's own pause
 * grows to 20, with queries waiting for it.
 */
const reconnectPauseSeconds = () => 0.1 + Math.random() * 0.3
/** After so many idle seconds a connection is probed, each second, up to ten times. */
const keepAliveSeconds = 3

/**
 * Opens a pool. Nothing is sent before the first query. Every statement ends after 8 seconds unless told
 * otherwise, a lock is waited for 3.5 seconds (one in a row of waiters waits twice), and an idle transaction
 * is ended after 8, so that no fault elsewhere can hold a station. A connection whose server has gone without
 * a word is replaced within 15 seconds. Throws an `OperatorError` when the library lacks its patch.
 */
export function openSql(url: string, { max, name, statementSeconds = 8 }: SqlOptions): Sql {
  assertPatched()
  return postgres(url, {
    max,
    connect_timeout: 5,
    backoff: reconnectPauseSeconds,
    answer_timeout: statementSeconds + answerMarginSeconds,
    keep_alive: keepAliveSeconds,
    onnotice: () => {},
    types: {
      bigint: { to: 20, from: [20], serialize: (x: number) => String(x), parse: (x: string) => Number(x) }
    },
    connection: {
      application_name: `cuewire ${name}`,
      statement_timeout: statementSeconds * 1_000,
      lock_timeout: 3_500,
      idle_in_transaction_session_timeout: 8_000,
      // Our statements are few and look up by key: planning them anew each time costs more than running them.
      plan_cache_mode: 'force_generic_plan',
      // One statement must not take the cores that others need. As text, because the package leaves out a
      // number 0.
      max_parallel_workers_per_gather: '0'
    }
  })
}

/**
 * Without its patch a lost connection can end the process, or send a transaction's statements outside of it.
 */
function assertPatched(): void {
  // The patch sets this number; it grows when the patch changes.
  if (Reflect.get(postgres, 'cuewirePatch') === 3) return
  throw new OperatorError(
    'the package postgres lacks patches/postgres+3.4.9.patch: run npm ci without --ignore-scripts, and npm run build'
  )
}
