import { AdvisedError, codeOf, OperatorError } from './errors.ts'

/** Whether an error means that Postgres or Redis is unreachable. */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|CONNECTION_|CONNECT_TIMEOUT|57P0)/.test(codeOf(error)) ||
    ['MaxRetriesPerRequestError', 'ClusterAllFailedError'].includes(error.name) ||
    /^(Connection is closed|Stream isn't writeable|Command timed out|connecting to Redis took longer|CLUSTERDOWN|Too many Cluster redirections)/.test(
      error.message
    )
  )
}

/** Whether Redis refuses a write: it is full, cannot save, is a replica, starts, or has lost its nodes. */
const isRefusedWrite = (error: unknown) =>
  error instanceof Error &&
  error.name === 'ReplyError' &&
  /^(OOM|MISCONF|READONLY|LOADING|MASTERDOWN|NOREPLICAS|TRYAGAIN) /.test(error.message)

/** Whether an error means that a store is unreachable or overloaded, so that a retry may succeed. */
export function isStoreFault(error: unknown): boolean {
  // Out of resources, lock timeout, statement timeout, idle transaction timeout, a read-only Postgres (as
  // after a failover), serialization failure or deadlock.
  return (
    isStoreUnavailable(error) ||
    isRefusedWrite(error) ||
    /^(53|55P03|57014|25P03|25006|40)/.test(codeOf(error))
  )
}

/**
 * Whether an error means that a store cannot be used at all at present, so that other work on it would fail as well: it is
 * unreachable, refuses writes, or is out of resources. A timeout or a conflict may concern only some rows.
 */
export function isStoreAway(error: unknown): boolean {
  return isStoreUnavailable(error) || isRefusedWrite(error) || /^(53|25006)/.test(codeOf(error))
}

/** The message of an error for a log line or another message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection to a name with several addresses has a code and no message.
  return error.message || codeOf(error) || error.name
}

/** What an operator can do about errors of Postgres, by SQLSTATE. */
const postgresFaults: Readonly<Record<string, readonly [problem: string, advice: string]>> = {
  '25006': ['Postgres is read-only', 'connect to the primary, or set default_transaction_read_only to off'],
  '28000': ['Postgres refuses the role of the database URL', 'correct the URL, or pg_hba.conf of Postgres'],
  '28P01': ['Postgres refuses the role of the database URL', 'correct the name and password in the URL'],
  '3D000': ['the database does not exist', 'create it (createdb --owner ROLE NAME), or correct the URL'],
  '3F000': ['there is no schema for tables', 'set the search_path of the role to a schema that exists'],
  '42501': [
    'the role of the database URL lacks privileges',
    'make it the owner of the database and of its tables (alter database NAME owner to ROLE), or grant them'
  ],
  '53100': ['the disk of Postgres is full', 'free space there'],
  '53300': ['Postgres has no free connection', 'raise max_connections, or stop other programs that use it']
}

/**
 * Returns the `OperatorError` of an error that an operator can solve: itself, or that of Postgres. Null for any other error.
 */
export function toOperatorError(error: unknown): OperatorError | null {
  if (error instanceof OperatorError) return error
  const [problem, advice] = postgresFaults[codeOf(error)] ?? []
  return problem === undefined || advice === undefined
    ? null
    : new AdvisedError(`${problem} (${reasonOf(error)})`, advice, { cause: error })
}
