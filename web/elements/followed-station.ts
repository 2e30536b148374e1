import type { ReactiveControllerHost } from 'lit'

import { followStation } from '../client/client.ts'
import type { Follower, FollowOptions, Progress, Snapshot } from '../client/interface.ts'

const initialSnapshot: Snapshot = { status: 'connecting', reason: null, via: null, np: null, trueAtMs: null }

const noop = () => {}

/** Timers fire up to a millisecond early, and would render the previous second again. */
const timerMarginMs = 3

/**
 * Follows a station while an element is in the page. Renders the element at every change, and every second
 * while a song plays and the page is visible. `getOptions` is called at every rendering; if it returns null,
 * nothing is followed.
 */
export function followStationFor(
  host: ReactiveControllerHost,
  getOptions: () => FollowOptions | null,
  onChange: (snapshot: Snapshot) => void = noop
) {
  let follower: Follower | null = null
  let options: FollowOptions | null = null
  /** What is shown while the station is followed anew with another listen token. */
  let before: Snapshot | null = null
  let release: () => void = noop
  let progress: Progress | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let isConnected = false

  function follow(): void {
    const next = isConnected ? getOptions() : null
    if (isSame(next, options)) return
    release()
    before = isSameStation(next, options) ? (follower?.snapshot ?? null) : null
    options = next
    follower = null
    release = noop
    if (next === null) return
    const shared = shareFollower(next)
    follower = shared.follower
    const stopListening = follower.on('change', snapshot => {
      onChange(snapshot)
      host.requestUpdate()
    })
    release = () => {
      stopListening()
      shared.release()
    }
    if (follower.snapshot.np) onChange(follower.snapshot)
  }

  /** Renders again at the next second after the rendered one, which may have passed during the rendering. */
  function scheduleUpdate(): void {
    clearTimeout(timer)
    if (progress === null || progress.remainingMs === 0 || document.hidden) return
    timer = setTimeout(requestUpdate, 1_000 - (progress.elapsedMs % 1_000) + timerMarginMs)
  }

  const requestUpdate = () => host.requestUpdate()
  host.addController({
    hostConnected: () => {
      isConnected = true
      document.addEventListener('visibilitychange', requestUpdate)
      follow()
    },
    hostDisconnected: () => {
      isConnected = false
      document.removeEventListener('visibilitychange', requestUpdate)
      clearTimeout(timer)
      follow()
    },
    hostUpdate: () => {
      follow()
      progress = follower?.snapshot.status === 'live' ? follower.progress() : null
    },
    hostUpdated: scheduleUpdate
  })
  return {
    get snapshot(): Snapshot {
      const snapshot = follower?.snapshot ?? initialSnapshot
      return snapshot.status === 'connecting' ? (before ?? snapshot) : snapshot
    },
    /** The progress when the current rendering began; null unless the status is `live`. */
    get progress(): Progress | null {
      return progress
    },
    serverTimeMs: () => follower?.serverTimeMs() ?? Date.now()
  }
}

const isSame = (one: FollowOptions | null, other: FollowOptions | null) =>
  isSameStation(one, other) && one?.apiKey === other?.apiKey && one?.token === other?.token

/** Whether only the credentials differ. */
const isSameStation = (one: FollowOptions | null, other: FollowOptions | null) =>
  one?.station === other?.station && String(one?.server) === String(other?.server)

/** A follower with the delays of the elements that use it: of what one of them plays, all show what is heard. */
interface SharedFollower {
  readonly follower: Follower
  readonly delays: (() => number)[]
}

/** By the options. */
const followers = new Map<string, SharedFollower>()

/** Reconnects all followers that wait or were refused their station: the server responds, or somebody has signed in. */
export function wakeFollowers(): void {
  for (const { follower } of followers.values()) follower.wake()
}

/** Returns the follower that elements of the page share, until `release` is called once. */
function shareFollower(options: FollowOptions) {
  const { server, station, apiKey = '', token = '', transports = [], delay: ownDelay } = options
  const key = JSON.stringify([
    String(server ?? ''),
    String(station),
    apiKey,
    String(token),
    transports,
    ownDelay !== undefined
  ])
  const shared = followers.get(key) ?? openShared(options)
  followers.set(key, shared)
  const delay = ownDelay ?? noDelay
  shared.delays.push(delay)
  return {
    follower: shared.follower,
    release: () => {
      shared.delays.splice(shared.delays.indexOf(delay), 1)
      // An element that is moved leaves the page and returns at once.
      queueMicrotask(() => {
        if (shared.delays.length > 0 || followers.get(key) !== shared) return
        followers.delete(key)
        shared.follower.close()
      })
    }
  }
}

const noDelay = () => 0

function openShared(options: FollowOptions): SharedFollower {
  const delays: (() => number)[] = []
  const delay = () => Math.max(0, ...delays.map(read => read()))
  return { follower: followStation(options.delay === undefined ? options : { ...options, delay }), delays }
}
