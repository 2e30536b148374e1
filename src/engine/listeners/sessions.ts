import type { ListenerDetails } from '../../stores/redis/session-store.ts'

/*
 * A session is the time for which a connection to a source is seen in its reports. Connections of the same listener
 * (address and user agent) cannot be told apart, so they are numbered: if one of three ends, the third session does.
 * The time listened is right in any case.
 */

/** A connection that a server lists. It is in memory during a report, and never stored or logged. */
export interface ListenerConnection {
  readonly address: string
  readonly userAgent: string
  /** How long it has been connected; 0 if unknown. */
  readonly seconds: number
}

/** When a source was read, and what may be stored about its listeners. */
export interface ListenerSessionReport {
  /** Unix milliseconds. */
  readonly atMs: number
  /** When it was read before; null if unknown. */
  readonly previousMs: number | null
  readonly describe: (connection: ListenerConnection) => ListenerDetails
}

/** The open sessions of a source. */
export interface SourceSessions {
  /** Whether sessions of the source were recorded since Redis was empty. */
  readonly isTracked: boolean
  /** The start of each session in Unix milliseconds, by token. */
  readonly starts: ReadonlyMap<string, number>
  /** The earliest of them. */
  readonly oldestMs: number
}

/** A longer session is stored as several, so that nobody is followed for longer and few are lost with Redis. */
export const maxListenerSessionMs = 86_400_000
/** The longest time for which a listener is assumed to have stayed after the last report. */
const maxUnseenMs = 5 * 60_000

/** A connection in a report. `hash`: of its listener. */
export interface SeenConnection {
  readonly hash: string
  readonly seconds: number
}

interface NewSession<Connection> {
  readonly token: string
  readonly startMs: number
  readonly connection: Connection
}

/** Returns the open sessions after a report of all connections of a source, with those that began and ended. */
export function compareSessions<Connection extends SeenConnection>(
  before: SourceSessions,
  connections: readonly Connection[],
  times: Pick<ListenerSessionReport, 'atMs' | 'previousMs'>
): {
  readonly sessions: SourceSessions
  readonly opened: readonly NewSession<Connection>[]
  readonly ended: readonly (readonly [token: string, endMs: number])[]
} {
  const { atMs } = times
  const starts = new Map<string, number>()
  const opened: NewSession<Connection>[] = []
  const ended: (readonly [token: string, endMs: number])[] = []
  const open = (token: string, startMs: number, connection: Connection) => {
    starts.set(token, startMs)
    opened.push({ token, startMs, connection })
  }
  for (const [hash, own] of groupByHash(connections)) {
    const tokens = own.map((_, index) => (index === 0 ? hash : `${hash}~${index + 1}`))
    // The connections that are new are the youngest ones.
    const youngest = own.toSorted((a, b) => a.seconds - b.seconds).values()
    for (const token of tokens) {
      const startMs = before.starts.get(token)
      const [first] = own
      if (startMs === undefined) {
        const connection = youngest.next().value
        if (connection) open(token, startOf(connection.seconds, before.isTracked, times), connection)
      } else if (first && atMs - startMs >= maxListenerSessionMs) {
        ended.push([token, startMs + maxListenerSessionMs])
        open(token, startMs + maxListenerSessionMs, first)
      } else starts.set(token, startMs)
    }
  }
  for (const [token, startMs] of before.starts)
    if (!starts.has(token)) ended.push([token, Math.max(startMs, endOf(times))])
  return {
    sessions: {
      isTracked: before.isTracked || opened.length + ended.length > 0,
      starts,
      oldestMs: findEarliestStart(starts)
    },
    opened,
    ended
  }
}

/** The earliest of these starts; infinite if there are none. */
export function findEarliestStart(starts: ReadonlyMap<string, number>): number {
  let oldestMs = Infinity
  for (const startMs of starts.values()) oldestMs = Math.min(oldestMs, startMs)
  return oldestMs
}

function groupByHash<Connection extends SeenConnection>(connections: readonly Connection[]) {
  const groups = new Map<string, Connection[]>()
  for (const connection of connections) {
    const group = groups.get(connection.hash)
    if (group) group.push(connection)
    else groups.set(connection.hash, [connection])
  }
  return groups
}

/**
 * Returns when the session of a new connection began. One that was not seen before began after the report before; what
 * came before that belongs to a session that has ended. Without an earlier report, whole days were stored as other
 * sessions.
 */
function startOf(
  seconds: number,
  isTracked: boolean,
  { atMs, previousMs }: Pick<ListenerSessionReport, 'atMs' | 'previousMs'>
): number {
  // Servers round down.
  const connectedMs = (seconds + 0.5) * 1_000
  if (isTracked && previousMs !== null)
    return Math.round(Math.min(atMs, Math.max(previousMs, atMs - connectedMs)))
  return Math.round(atMs - (connectedMs % maxListenerSessionMs))
}

/** Returns when a connection ended that is missing in a report: between the two, on average in the middle. */
function endOf({ atMs, previousMs }: Pick<ListenerSessionReport, 'atMs' | 'previousMs'>): number {
  if (previousMs === null) return atMs
  return Math.round(previousMs + Math.min(maxUnseenMs, Math.max(0, atMs - previousMs) / 2))
}
