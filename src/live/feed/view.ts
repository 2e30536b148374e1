import type { CachedResponse } from '../../station/document.ts'
import type { StationState } from '../../station/state.ts'
import type { Feed } from './feed.ts'
import { engineSeconds } from './live-station.ts'

type DocumentKind = 'rest' | 'event' | 'line'

/** The feed for the REST handlers: states, and documents rendered for the current second. */
export function viewOf(feed: Feed) {
  return {
    get: (idOrName: string) => feed.find(idOrName)?.state,
    all: () => feed.all().map(({ state }) => state),
    /** Rendered from the newest state; undefined if the station does not exist. */
    document: (stationId: number, kind: DocumentKind): CachedResponse | undefined =>
      feed.get(stationId)?.[kind](engineSeconds()),
    /** The same for a public station, by id or short name; undefined for all others. */
    publicDocument: (idOrName: string, kind: DocumentKind): CachedResponse | undefined => {
      const station = feed.find(idOrName)
      return station?.state.profile.isPublic ? station[kind](engineSeconds()) : undefined
    },
    publicList: () => feed.publicList(engineSeconds()),
    /** The REST renderings of these stations as one array, without those that do not exist. */
    list: (stationIds: readonly number[]) =>
      feed.list(
        stationIds.flatMap(stationId => feed.get(stationId) ?? []),
        engineSeconds()
      ),
    onChange: (listener: (state: StationState) => void) => feed.onChange(({ state }) => listener(state)),
    catchUp: feed.catchUp,
    health: () => {
      const { checkedAtMs, stations } = feed.health()
      return { isCurrent: feed.isCurrent(), checkedAtMs, stations }
    }
  }
}
