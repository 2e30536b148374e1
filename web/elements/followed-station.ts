import type { ReactiveControllerHost } from 'lit'

import { followStation } from '../client/client.ts'
import type { Follower, FollowOptions, Progress, Snapshot } from '../client/interface.ts'

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

/**
 * Timers come up to a millisecond early: a drawing at 1.9995 s would show the wrong second until the next.
 */
const timerLeadMs = 3

/**
 * Follows a station as long as an element is in the page: draws the element at every change, and every second
 * while a song goes on and the page is looked at. `wish` is asked at every drawing; null: nothing is
 * followed.
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

/** A follower that several elements of a page have in common. */
interface Shared {
  readonly follower: Follower
  users: number
}

const followers = new Map<string, Shared>()

/** What one element has of a follower, until it gives it back. */
interface Lease {
  readonly follower: Follower
  readonly release: () => void
}

/** Whoever waits to connect again does so now: the server is known to be there. */
export function wakeFollowers(): void {
  for (const { follower } of followers.values()) follower.wake()
}

/** Follows a station, over the connection that is there if another element of the page follows it already. */
function leaseFollower(options: FollowOptions): Lease {
  const { server, station, apiKey = '', transports = [] } = options
  const key = JSON.stringify([String(server ?? ''), String(station), apiKey, transports])
  const shared = followers.get(key) ?? { follower: followStation(options), users: 0 }
  followers.set(key, shared)
  shared.users++
  let isHeld = true
  return {
    follower: shared.follower,
    release: () => {
      if (!isHeld) return
      isHeld = false
      shared.users--
      // Elements that are moved leave the page and come back at once.
      queueMicrotask(() => {
        if (shared.users > 0 || followers.get(key) !== shared) return
        followers.delete(key)
        shared.follower.close()
      })
    }
  }
}
