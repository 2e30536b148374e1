import type { LiveView } from '../../station/live-view.ts'
import type { Feed } from './feed.ts'
import { engineSeconds } from './live-station.ts'

/** The feed for the REST handlers. Documents are rendered from the newest state, for the current second. */
export function viewOf(feed: Feed): LiveView {
  return {
    get: idOrName => feed.find(idOrName)?.state,
    find: feed.find,
    all: feed.all,
    document: (stationId, kind) => feed.get(stationId)?.[kind](engineSeconds()),
    publicDocument: (idOrName, kind) => {
      const station = feed.find(idOrName)
      return station?.isPublic ? station[kind](engineSeconds()) : undefined
    },
    publicIds: feed.publicIds,
    publicList: () => feed.publicList(engineSeconds()),
    longList: feed.longList,
    list: stationIds =>
      feed.list(
        stationIds.flatMap(stationId => feed.get(stationId) ?? []),
        engineSeconds()
      ),
    onChange: listener => feed.onChange(station => listener(station)),
    catchUp: feed.catchUp,
    health: () => {
      const { checkedAtMs, stations } = feed.health()
      return { isCurrent: feed.isCurrent(), checkedAtMs, stations }
    }
  }
}
