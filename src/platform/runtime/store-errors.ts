import { errorCodeOf } from './errors.ts'
import { AdvisedError, OperatorError } from './operator-error.ts'

/** Whether an error means that Postgres or Redis is unreachable. */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|CONNECTION_|CONNECT_TIMEOUT|57P0)/.test(errorCodeOf(error)) || isLostRedis(error)
  )
}

export type StoreName = 'postgres' | 'redis'

/**
 * Returns the store whose outage explains an error: it is unreachable, or Redis refuses commands. Null for other
 * errors.
 */
export function findUnavailableStore(error: unknown): StoreName | null {
  if (!(error instanceof Error)) return null
  if (isLostRedis(error) || isRefusedByRedis(error)) return 'redis'
  const code = errorCodeOf(error)
  if (/^(CONNECTION_|CONNECT_TIMEOUT|57P0)/.test(code)) return 'postgres'
  // The package adds the statement to each error, also to those of sockets and of names that cannot be resolved.
  const isOfStatement = 'query' in error && 'parameters' in error
  return isOfStatement && /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)/.test(code)
    ? 'postgres'
    : null
}

const isLostRedis = (error: Error): boolean =>
  ['MaxRetriesPerRequestError', 'ClusterAllFailedError'].includes(error.name) ||
  /^(Connection is closed|Stream isn't writeable|Command timed out|connecting to Redis took longer|CLUSTERDOWN|Too many Cluster redirections|All sentinels are unreachable)/.test(
    error.message
  )

/**
 * Whether an error of Redis means that the node of this connection does not take commands, while the node that a new
 * connection reaches may: it was demoted (READONLY, UNBLOCKED, MASTERDOWN), has lost its replicas or its cluster
 * (NOREPLICAS, CLUSTERDOWN), loads its data again, or forgot who is connected (NOAUTH, as behind a proxy). Not those
 * that a new connection meets as well: full (OOM), cannot save (MISCONF), without permission (NOPERM).
 */
export const needsNewConnection = (error: unknown): boolean =>
  isRedisErrorReply(error) &&
  /(?:^|[ -])(?:READONLY|NOREPLICAS|LOADING|MASTERDOWN|CLUSTERDOWN|UNBLOCKED|NOAUTH) /.test(error.message)

/**
 * Whether Redis refuses a command that is valid: see `needsNewConnection`, or it is full, cannot save, moves a slot, no
 * longer takes the password, or the user may not run the command. Not if the user lacks a permission for a key or
 * channel, which may concern some stations only.
 */
export const isRefusedByRedis = (error: unknown): boolean =>
  needsNewConnection(error) ||
  (isRedisErrorReply(error) &&
    /(?:^|[ -])(?:OOM|MISCONF|TRYAGAIN|EXECABORT|WRONGPASS) /.test(error.message)) ||
  (isDeniedByRedis(error) && /permissions to run |can't run this command/.test(error.message))

/** Whether the user of Redis lacks a permission. In scripts, Redis 7.0 writes it in another way than later ones. */
export const isDeniedByRedis = (error: unknown): error is Error =>
  isRedisErrorReply(error) &&
  /(?:^|[ -])NOPERM |The user executing the script can't (?:run|access|publish) /.test(error.message)

/** An answer of Redis itself, also one that a client of a cluster has received too often. */
export const isRedisErrorReply = (error: unknown): error is Error =>
  error instanceof Error &&
  (error.name === 'ReplyError' || error.message.startsWith('Too many Cluster redirections'))

/** Whether an error means that a store is unreachable or overloaded, so that a retry may succeed. */
export function isTemporaryStoreError(error: unknown): boolean {
  // Out of resources, lock timeout, statement timeout, idle transaction timeout, a read-only Postgres (as
  // after a failover), serialization failure or deadlock.
  return (
    isStoreUnavailable(error) ||
    isRefusedByRedis(error) ||
    isDeniedByRedis(error) ||
    /^(53|55P03|57014|25P03|25006|40)/.test(errorCodeOf(error))
  )
}

/**
 * Whether an error means that a store cannot be used at all at present, so that other work on it would fail as well: it
 * is unreachable, refuses writes, or is out of resources. A timeout or a conflict may concern only some rows.
 */
export function isStoreAway(error: unknown): boolean {
  return isStoreUnavailable(error) || isRefusedByRedis(error) || /^(53|25006)/.test(errorCodeOf(error))
}

/** The message of an error for a log line or another message. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection to a name with several addresses has a code and no message.
  return error.message || errorCodeOf(error) || error.name
}

/** Prepared statements vanish, or exist already, where a pooler gives each transaction another session. */
const sharedSessions = [
  'a pooler in front of Postgres mixes the sessions of its clients',
  'set its pool_mode to session for this database, or set DATABASE_URL to Postgres itself'
] as const

/**
 * The SQLSTATE with which a session refuses itself (`src/stores/db/connections/connection-options.ts`): of the class of
 * servers that start or stop.
 */
export const readOnlySessionCode = '57P0R'

/** What an operator can do about errors of Postgres, by SQLSTATE. */
const postgresFaults: Readonly<Record<string, readonly [problem: string, advice: string]>> = {
  [readOnlySessionCode]: [
    'Postgres is a standby, which is read-only',
    'set DATABASE_URL to the primary, or to all servers (postgres://USER@ONE,OTHER/NAME)'
  ],
  CONNECTION_TLS_REFUSED: [
    'Postgres does not use TLS',
    'set ssl to on there, or correct sslmode in DATABASE_URL'
  ],
  CONNECTION_NOT_BOUND: [
    'Postgres does not bind passwords to its certificate',
    'replace channel_binding=require in DATABASE_URL by sslmode=verify-full'
  ],
  '26000': sharedSessions,
  '42P05': sharedSessions,
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
 * Returns the `OperatorError` of an error that an operator can solve: itself, or that of Postgres. Null for any other
 * error.
 */
export function toOperatorError(error: unknown): OperatorError | null {
  if (error instanceof OperatorError) return error
  const [problem, advice] = postgresFaults[errorCodeOf(error)] ?? []
  return problem === undefined || advice === undefined
    ? null
    : new AdvisedError(`${problem} (${describeError(error)})`, advice, { cause: error })
}
