import postgres from 'postgres'

import { OperatorError } from '../errors.ts'

/** The connection pool. int8 arrives as a number: ids and epoch times are far below 2^53. */
export type Sql = postgres.Sql<{ bigint: number }>
/** A transaction; only queries made through it are part of it. */
export type Tx = postgres.TransactionSql<{ bigint: number }>
/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/**
 * Opens a pool. Nothing is sent before the first query. Every statement ends after 15 seconds, a lock is waited
 * for 5 seconds, and an idle transaction is ended after 15, so that no fault elsewhere can hold a station. Throws an
 * `OperatorError` when the library lacks its patch.
 */
export function openSql(url: string, options: { max: number; name: string }): Sql {
  assertPatched()
  return postgres(url, {
    max: options.max,
    connect_timeout: 5,
    onnotice: () => {},
    types: {
      bigint: { to: 20, from: [20], serialize: (x: number) => String(x), parse: (x: string) => Number(x) }
    },
    connection: {
      application_name: `cuewire ${options.name}`,
      statement_timeout: 15_000,
      lock_timeout: 5_000,
      idle_in_transaction_session_timeout: 15_000,
      // Our statements are few and look up by key: planning them anew each time costs more than running them.
      plan_cache_mode: 'force_generic_plan'
    }
  })
}

/** Without its patch a lost connection can end the process, or send a transaction's statements outside of it. */
function assertPatched(): void {
  // The patch sets this number; it grows when the patch changes.
  if (Reflect.get(postgres, 'cuewirePatch') === 1) return
  throw new OperatorError(
    'the package postgres lacks patches/postgres+3.4.9.patch: run npm ci without --ignore-scripts, and npm run build'
  )
}
