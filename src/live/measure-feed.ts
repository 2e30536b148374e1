import {
  feedAgeMetric,
  feedStationsMetric,
  namedStaleStationsMetric,
  staleStationsMetric
} from '../platform/metrics/push.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import type { Feed } from './feed/feed.ts'
import { isSongOverdue } from './publications.ts'

/** The number of series does not grow with the stations. */
const maxNamed = 20

/** Adds the states of a server to its metrics. */
export function registerFeedMetrics(feed: Feed): void {
  feedStationsMetric.read = () => feed.health().stations
  feedAgeMetric.read = () => Math.max(0, engineTimeMs() - feed.health().checkedAtMs) / 1_000
  const findStale = () => {
    if (!feed.isCurrent()) return feed.all()
    const nowMs = engineTimeMs()
    return feed.all().filter(station => isSongOverdue(station, nowMs))
  }
  staleStationsMetric.read = () => findStale().length
  namedStaleStationsMetric.read = () =>
    findStale()
      .slice(0, maxNamed)
      .map(({ state }) => [{ station: state.profile.shortName }, 1] as const)
}
