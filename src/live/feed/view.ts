import { engineTimeMs } from '../../runtime/engine-time.ts'
import type { CachedResponse } from '../../station/document.ts'
import type { StationState } from '../../station/state.ts'
import type { Feed } from './feed.ts'

/** The feed for the REST handlers: states, and documents rendered for the current second. */
export interface FeedView {
  readonly get: (idOrName: string) => StationState | undefined
  readonly all: () => StationState[]
  /** Rendered from the newest state; undefined if the station does not exist. */
  readonly document: (stationId: number, kind: 'rest' | 'event' | 'line') => CachedResponse | undefined
  /** The same for a public station, by id or short name; undefined for all others. */
  readonly publicDocument: (idOrName: string, kind: 'rest' | 'event' | 'line') => CachedResponse | undefined
  readonly publicList: () => CachedResponse
  /** The REST renderings of these stations as one array, without those that do not exist. */
  readonly list: (stationIds: readonly number[]) => CachedResponse
  readonly onChange: (listener: (state: StationState) => void) => () => void
  readonly catchUp: (stationId: number) => Promise<void>
  /** `isCurrent` and `checkedAtMs`: see `FeedHealth` and `Feed`. */
  readonly health: () => {
    readonly isCurrent: boolean
    readonly checkedAtMs: number
    readonly stations: number
  }
}

export function viewOf(feed: Feed): FeedView {
  return {
    get: idOrName => feed.find(idOrName)?.state,
    all: () => feed.all().map(({ state }) => state),
    document: (stationId, kind) => feed.get(stationId)?.[kind](nowInSeconds()),
    publicDocument: (idOrName, kind) => {
      const station = feed.find(idOrName)
      return station?.state.profile.isPublic ? station[kind](nowInSeconds()) : undefined
    },
    publicList: () => feed.publicList(nowInSeconds()),
    list: stationIds =>
      feed.list(
        stationIds.flatMap(stationId => feed.get(stationId) ?? []),
        nowInSeconds()
      ),
    onChange: listener => feed.onChange(({ state }) => listener(state)),
    catchUp: feed.catchUp,
    health: () => {
      const { checkedAtMs, stations } = feed.health()
      return { isCurrent: feed.isCurrent(), checkedAtMs, stations }
    }
  }
}

const nowInSeconds = () => Math.floor(engineTimeMs() / 1000)
