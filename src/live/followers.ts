import { refusalsMetric } from '../platform/metrics/push.ts'
import {
  type FollowerCounts,
  followerTransports,
  type FollowerTransport,
  noFollowers
} from '../stores/redis/followers.ts'
import { noFollowedStations, type LiveSession } from './session.ts'

export type Followers = ReturnType<typeof openFollowers>

/**
 * Counts the clients of this process that follow each station, by transport. A station may have at most
 * `maxPerStation` of them; 0 is no limit. A session counts once for each station that it was shown.
 */
export function openFollowers(maxPerStation = 0) {
  const byStation = new Map<number, Record<FollowerTransport, number>>()
  /** The stations whose counts have changed since `drainChanges`. */
  const changed = new Set<number>()

  function isFull(stationId: number): boolean {
    if (maxPerStation === 0) return false
    const counts = byStation.get(stationId)
    if (counts === undefined) return false
    const total = followerTransports.reduce((sum, transport) => sum + counts[transport], 0)
    return total >= maxPerStation
  }

  function add(stationId: number, transport: FollowerTransport, difference: 1 | -1): void {
    const counts = byStation.get(stationId) ?? { ...noFollowers }
    counts[transport] += difference
    if (followerTransports.every(each => counts[each] === 0)) byStation.delete(stationId)
    else byStation.set(stationId, counts)
    changed.add(stationId)
  }

  /** Replaces what a session follows. Returns false, and changes nothing, if a new station is full. */
  function follow(session: LiveSession, stationIds: readonly number[]): boolean {
    const { follows: before, transport } = session
    const added = stationIds.filter(stationId => !before.includes(stationId))
    if (added.some(isFull)) {
      refusalsMetric.station++
      return false
    }
    session.follows = stationIds
    for (const stationId of added) add(stationId, transport.name, 1)
    for (const stationId of before) if (!stationIds.includes(stationId)) add(stationId, transport.name, -1)
    return true
  }

  return {
    follow,
    /** Adds a station to those that a session follows. Returns false if it is full. */
    alsoFollow: (session: LiveSession, stationId: number): boolean =>
      session.follows.includes(stationId) || follow(session, [...session.follows, stationId]),
    leave: (session: LiveSession) => void follow(session, noFollowedStations),
    /** Counts a long poll. Returns a function that ends it, or null if the station is full. */
    admitLongPoll: (stationId: number): (() => void) | null => {
      if (isFull(stationId)) {
        refusalsMetric.station++
        return null
      }
      add(stationId, 'long_poll', 1)
      return () => add(stationId, 'long_poll', -1)
    },
    /** Returns the counts that have changed since the last call; null: the station has no followers. */
    drainChanges: (): Map<number, FollowerCounts | null> => {
      const changes = [...changed].map(stationId => [stationId, copyOf(byStation.get(stationId))] as const)
      changed.clear()
      return new Map(changes)
    },
    /** The counts of all stations that have followers. */
    all: (): Map<number, FollowerCounts> => {
      changed.clear()
      return new Map([...byStation].map(([stationId, counts]) => [stationId, { ...counts }]))
    }
  }
}

const copyOf = (counts: FollowerCounts | undefined) => (counts === undefined ? null : { ...counts })
