import { type ServerClock, unknownClock } from './clock.ts'
import type { Known, Reason, Status, Transport } from './interface.ts'

/** The state of following one station. Times are those of `openLocalClock`. */
export interface FollowState {
  /** The transports to try, in order of preference. */
  readonly transports: readonly Transport[]
  readonly staleAfterMs: number
  readonly startedAtMs: number
  /** The number of the current connection. Inputs of other connections are ignored. */
  readonly connection: number
  readonly phase: ConnectionPhase
  /** Consecutive rounds in which no transport connected and stayed connected. */
  readonly failures: number
  /** The newest document and its position; null before the first one. */
  readonly document: Omit<Known, 'timeMs'> | null
  /** The last publication of this connection, to which the next delta applies; null if there is none. */
  readonly base: unknown
  /** The epoch of this connection. */
  readonly epoch: string
  /** The server answered that there is no such station. */
  readonly isMissing: boolean
  /** When the document was last confirmed as current; null if never. */
  readonly confirmedAtMs: number | null
  /** The server reported that its own state may be stale. */
  readonly isServerStale: boolean
  /** Since when no connection has delivered state; null while one does. */
  readonly disconnectedAtMs: number | null
  readonly clock: ServerClock
}

/** `next` are the transports to try if the one that opens fails. */
export type ConnectionPhase = Readonly<
  | { type: 'waiting'; untilMs: number; order: readonly Transport[] }
  | { type: 'opening'; transport: Transport; next: readonly Transport[]; sinceMs: number }
  | { type: 'open'; transport: Transport; sinceMs: number; receivedAtMs: number }
  | { type: 'ended'; reason: 'refused' | 'closed' }
>

/** The initial state, in which the first connection is due at once. */
export function initialFollowState(
  transports: readonly Transport[],
  atMs: number,
  { staleAfterMs, known }: { readonly staleAfterMs: number; readonly known?: Known | undefined }
): FollowState {
  return {
    transports,
    staleAfterMs,
    startedAtMs: atMs,
    connection: 0,
    phase: { type: 'waiting', untilMs: atMs, order: transports },
    failures: 0,
    document: known ?? null,
    base: null,
    epoch: '',
    isMissing: false,
    confirmedAtMs: known ? atMs : null,
    isServerStale: false,
    disconnectedAtMs: atMs,
    clock: known ? { aheadMs: known.timeMs - atMs, isSuspect: false } : unknownClock
  }
}

/** The server sends a ping every 25 seconds. */
export const defaultStaleAfterMs = 35_000
/** A document is stale after this time without a connection. */
const staleAfterDisconnectMs = 5_000
/** Timeout for the first document. */
const firstDocumentMs = 10_000
/** After this time without confirmation a document is no longer shown. */
const offlineAfterMs = 300_000

/** The status to show at `atMs`. */
export function followStatusAt(state: FollowState, atMs: number): { status: Status; reason: Reason | null } {
  const { phase, document, isMissing, confirmedAtMs, failures } = state
  if (phase.type === 'ended') return { status: 'offline', reason: phase.reason }
  if (isMissing) return { status: 'offline', reason: 'unknown' }
  const [staleAtMs, offlineAtMs] = statusDeadlines(state)
  const isUnconfirmed = document === null || confirmedAtMs === null
  if (atMs >= offlineAtMs || (isUnconfirmed && (failures > 0 || atMs >= staleAtMs)))
    return { status: 'offline', reason: 'unreachable' }
  if (isUnconfirmed) return { status: 'connecting', reason: null }
  return { status: atMs >= staleAtMs ? 'stale' : 'live', reason: null }
}

/** The times at which the status becomes `stale` and `offline` if nothing is received. */
function statusDeadlines(state: FollowState): [staleAtMs: number, offlineAtMs: number] {
  const { confirmedAtMs, disconnectedAtMs, isServerStale, staleAfterMs, startedAtMs } = state
  if (confirmedAtMs === null) return [startedAtMs + firstDocumentMs, Infinity]
  return [
    Math.min(
      confirmedAtMs + (isServerStale ? 0 : staleAfterMs),
      (disconnectedAtMs ?? Infinity) + staleAfterDisconnectMs
    ),
    confirmedAtMs + Math.max(offlineAfterMs, staleAfterMs)
  ]
}

/** The next time after `atMs` at which the status changes if nothing is received; Infinity if it does not. */
export function nextStatusChangeMs(state: FollowState, atMs: number): number {
  if (state.phase.type === 'ended' || state.isMissing) return Infinity
  return Math.min(...statusDeadlines(state).filter(deadlineMs => deadlineMs > atMs))
}
