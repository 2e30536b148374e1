import type { ReactiveControllerHost } from 'lit'

import type { FollowOptions, Progress, Snapshot } from '../client/interface.ts'
import { type Lease, leaseFollower } from './shared-follower.ts'

/** A station as an element sees it. */
export interface FollowedStation {
  readonly snapshot: Snapshot
  /** Where the song is as this drawing began; null while that is not known for certain. */
  readonly progress: Progress | null
  /** The server's clock: the visitor's may be wrong. */
  readonly serverTimeMs: () => number
}

const unknown: Snapshot = { status: 'connecting', reason: null, via: null, np: null, trueAtMs: null }

const nothing = () => {}

/** Timers come up to a millisecond early: a drawing at 1.9995 s would show the wrong second until the next. */
const timerLeadMs = 3

/**
 * Follows a station as long as an element is in the page: draws the element at every change, and every second while a
 * song goes on and the page is looked at. `wish` is asked at every drawing; null: nothing is followed.
 */
export function followFor(
  host: ReactiveControllerHost,
  wish: () => FollowOptions | null,
  onChange: (snapshot: Snapshot) => void = nothing
): FollowedStation {
  let lease: Lease | null = null
  let wished: FollowOptions | null = null
  let stopListening: () => void = nothing
  let drawn: Progress | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let isConnected = false

  function follow(): void {
    const next = isConnected ? wish() : null
    if (isSame(next, wished)) return
    stopListening()
    lease?.release()
    wished = next
    lease = next === null ? null : leaseFollower(next)
    stopListening =
      lease?.follower.on('change', snapshot => {
        onChange(snapshot)
        host.requestUpdate()
      }) ?? nothing
    if (lease?.follower.snapshot.np) onChange(lease.follower.snapshot)
  }

  function update(): void {
    follow()
    drawn = lease?.follower.snapshot.status === 'live' ? lease.follower.progress() : null
  }

  /** Draws again when the second after the drawn one begins, which may have been while it was drawn. */
  function tick(): void {
    clearTimeout(timer)
    if (drawn === null || drawn.remainingMs === 0 || document.hidden) return
    timer = setTimeout(() => host.requestUpdate(), 1_000 - (drawn.elapsedMs % 1_000) + timerLeadMs)
  }

  const look = () => host.requestUpdate()
  host.addController({
    hostConnected: () => {
      isConnected = true
      document.addEventListener('visibilitychange', look)
      follow()
    },
    hostDisconnected: () => {
      isConnected = false
      document.removeEventListener('visibilitychange', look)
      clearTimeout(timer)
      follow()
    },
    hostUpdate: update,
    hostUpdated: tick
  })
  return {
    get snapshot() {
      return lease?.follower.snapshot ?? unknown
    },
    get progress() {
      return drawn
    },
    serverTimeMs: () => lease?.follower.serverTimeMs() ?? Date.now()
  }
}

const isSame = (one: FollowOptions | null, other: FollowOptions | null) =>
  one?.station === other?.station &&
  one?.apiKey === other?.apiKey &&
  String(one?.server) === String(other?.server)
