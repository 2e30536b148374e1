import { feedAge, feedStations, namedStaleStations, staleStations } from '../platform/metrics/push.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import type { Feed } from './feed/feed.ts'
import { isOverdue } from './publications.ts'

/** The number of series does not grow with the stations. */
const maxNamed = 20

/** Adds the states of a server to its metrics. */
export function measureFeed(feed: Feed): void {
  feedStations.read = () => feed.health().stations
  feedAge.read = () => Math.max(0, engineTimeMs() - feed.health().checkedAtMs) / 1_000
  const findStale = () => {
    if (!feed.isCurrent()) return feed.all()
    const nowMs = engineTimeMs()
    return feed.all().filter(station => isOverdue(station, nowMs))
  }
  staleStations.read = () => findStale().length
  namedStaleStations.read = () =>
    findStale()
      .slice(0, maxNamed)
      .map(({ state }) => [{ station: state.profile.shortName }, 1] as const)
}
