import { codeOf } from './errors.ts'

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

/** The message of an error for a log line or another message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection to a name with several addresses has a code and no message.
  return error.message || codeOf(error) || error.name
}
