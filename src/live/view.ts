import type { StationState } from '../station/state.ts'
import type { Feed } from './feed.ts'

/** The feed as the REST handlers see it: states, and documents that are true at this second. */
export interface FeedView {
  readonly get: (idOrName: string) => StationState | undefined
  readonly all: () => StationState[]
  /** The REST rendering; of the newest version, should the station have changed since `state` was taken. */
  readonly document: (state: StationState) => Uint8Array
  readonly publicDocuments: () => Uint8Array
  readonly catchUp: (stationId: number) => Promise<void>
  /** `isCurrent`: Redis is there, and was looked at within the last 5 seconds; `checkedAtMs`: wholly. */
  readonly health: () => {
    readonly isCurrent: boolean
    readonly checkedAtMs: number
    readonly stations: number
  }
}

export function viewOf(feed: Feed): FeedView {
  const newest = (state: StationState) => {
    const station = feed.get(state.stationId)
    if (station === undefined) throw new Error(`station ${state.stationId} is gone`)
    return station
  }
  return {
    get: idOrName => feed.find(idOrName)?.state,
    all: () => feed.all().map(({ state }) => state),
    document: state => newest(state).restBytes(nowInSeconds()),
    publicDocuments: () => feed.publicList(nowInSeconds()),
    catchUp: feed.catchUp,
    health: () => {
      const { connected, lastCheckMs, checkedAtMs, stations } = feed.health()
      return { isCurrent: connected && Date.now() - lastCheckMs < 5_000, checkedAtMs, stations }
    }
  }
}

const nowInSeconds = () => Math.floor(Date.now() / 1000)
