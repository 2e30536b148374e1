import { followStation } from '../client/client.ts'
import type { Follower, FollowOptions } from '../client/interface.ts'

/** A follower that several elements of a page have in common. */
interface Shared {
  readonly follower: Follower
  users: number
}

const followers = new Map<string, Shared>()

/** What one element has of a follower, until it gives it back. */
export interface Lease {
  readonly follower: Follower
  readonly release: () => void
}

/** Whoever waits to connect again does so now: the server is known to be there. */
export function wakeFollowers(): void {
  for (const { follower } of followers.values()) follower.wake()
}

/** Follows a station, over the connection that is there if another element of the page follows it already. */
export function leaseFollower(options: FollowOptions): Lease {
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
