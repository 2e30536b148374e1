/** Whether a fault means that Postgres or Redis went away, as they may in the middle of a start. */
export function isStoreAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|CONNECTION_|CONNECT_TIMEOUT|57P0)/.test(code) ||
    ['MaxRetriesPerRequestError', 'ClusterAllFailedError'].includes(error.name) ||
    /^(Connection is closed|Stream isn't writeable|Command timed out|connecting to Redis took longer|CLUSTERDOWN|Too many Cluster redirections)/.test(
      error.message
    )
  )
}

/** Whether a fault means that a store is away or cannot keep up: the same call may succeed in a moment. */
export function isStoreFault(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  // Out of resources, a lock or a statement that took too long, a transaction that was given up or got in the
  // way of another, a Postgres that only reads, as after a failover.
  return isStoreAway(error) || /^(53|55P03|57014|25P03|25006|40)/.test(code)
}

/** What a fault says, in a few words. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // A refused connection to a name with several addresses has a code and no message.
  return error.message || ('code' in error ? String(error.code) : error.name)
}
