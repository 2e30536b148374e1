import { engineTimeMs } from '../../runtime/engine-time.ts'
import type { CachedResponse } from '../../station/document.ts'
import type { StationState } from '../../station/state.ts'
import type { Feed } from './feed.ts'

/** The feed for the REST handlers: states, and documents that are true at this second. */
export interface FeedView {
  readonly get: (idOrName: string) => StationState | undefined
  readonly all: () => StationState[]
  /** Of the newest state; undefined once the station is gone. */
  readonly document: (stationId: number, kind: 'rest' | 'event' | 'line') => CachedResponse | undefined
  /** The same of a public station by its id or short name; undefined for all others. */
  readonly publicDocument: (idOrName: string, kind: 'rest' | 'event' | 'line') => CachedResponse | undefined
  readonly publicList: () => CachedResponse
  /** The REST renderings of these stations as one array, without those that are gone. */
  readonly list: (stationIds: readonly number[]) => CachedResponse
  readonly onChange: (listener: (state: StationState) => void) => () => void
  readonly catchUp: (stationId: number) => Promise<void>
  /** `isCurrent`: Redis takes writes, and was looked at within the last 5 seconds; `checkedAtMs`: wholly. */
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
