import { feedAge, feedStations, staleStations } from '../metrics/push.ts'
import { engineTimeMs } from '../runtime/engine-time.ts'
import type { Feed } from './feed/feed.ts'
import { isOverdue } from './publications.ts'

/** Adds the states of a server to its metrics. */
export function measureFeed(feed: Feed): void {
  feedStations.read = () => feed.health().stations
  feedAge.read = () => Math.max(0, engineTimeMs() - feed.health().checkedAtMs) / 1_000
  staleStations.read = () => {
    if (!feed.isCurrent()) return feed.health().stations
    const nowMs = engineTimeMs()
    return feed.all().filter(station => isOverdue(station, nowMs)).length
  }
}
