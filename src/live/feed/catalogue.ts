import type { CachedResponse } from '../../station/document.ts'
import type { StationState } from '../../station/state.ts'
import { type LiveStation, openLiveStation, etagOf } from './live-station.ts'

/**
 * All stations of a server, by id and by short name. Within an epoch the offset of a station never decreases;
 * another epoch replaces it.
 */
export type Catalogue = ReturnType<typeof openCatalogue>

/** Calls `onRemoved` with every id and short name that no longer names the station it named. */
export function openCatalogue(baseUrl: string, onRemoved: (idOrName: string) => void = () => {}) {
  const byId = new Map<number, LiveStation>()
  const idByName = new Map<string, number>()
  let sorted: LiveStation[] | null = null
  let shown: readonly LiveStation[] | null = null
  let publicSecond = -1
  let publicList: CachedResponse | null = null
  /** The newest list of each set of stations, by their ids. */
  const lists = new Map<string, CachedResponse>()

  /** Releases a name, to another station that has it: the two changes may arrive in any order. */
  function releaseName({ stationId, profile: { shortName } }: StationState): void {
    if (idByName.get(shortName) !== stationId) return
    idByName.delete(shortName)
    for (const { state } of byId.values())
      if (state.profile.shortName === shortName) idByName.set(shortName, state.stationId)
  }

  function noteChange(): void {
    sorted = null
    shown = null
    publicSecond = -1
  }

  /** In id order. */
  const all = (): readonly LiveStation[] =>
    (sorted ??= [...byId.values()].toSorted((a, b) => a.state.stationId - b.state.stationId))

  return {
    all,
    get: (stationId: number) => byId.get(stationId),
    /** By id or short name, as in a path or channel; a text of digits is always an id. */
    find: (idOrName: string) => {
      const id = isDigits(idOrName) ? idOf(idOrName) : idByName.get(idOrName)
      return id === undefined ? undefined : byId.get(id)
    },
    /** Stores a state if it is newer; returns false if it is not. */
    put: (state: StationState): boolean => {
      const known = byId.get(state.stationId)
      if (known !== undefined && !isNewer(state, known.state)) return false
      byId.set(state.stationId, openLiveStation(state, baseUrl))
      if (known?.state.profile.shortName !== state.profile.shortName) {
        if (known !== undefined) releaseName(known.state)
        idByName.set(state.profile.shortName, state.stationId)
        if (known !== undefined) onRemoved(known.state.profile.shortName)
      }
      noteChange()
      return true
    },
    remove: (stationId: number) => {
      const known = byId.get(stationId)
      if (known === undefined) return
      byId.delete(stationId)
      releaseName(known.state)
      noteChange()
      onRemoved(String(stationId))
      onRemoved(known.state.profile.shortName)
    },
    /** The array of `GET /api/nowplaying` with the public stations, rendered for `nowSeconds`. */
    publicList: (nowSeconds: number): CachedResponse => {
      if (publicList !== null && publicSecond === nowSeconds) return publicList
      shown ??= all().filter(({ state }) => state.profile.isPublic)
      publicSecond = nowSeconds
      return (publicList = joinList(shown, nowSeconds, publicList))
    },
    /** The same with these stations, in this order. */
    list: (stations: readonly LiveStation[], nowSeconds: number): CachedResponse => {
      const choice = stations.map(({ state }) => state.stationId).join()
      const list = joinList(stations, nowSeconds, lists.get(choice) ?? null)
      if (!lists.has(choice) && lists.size >= maxLists) lists.clear()
      lists.set(choice, list)
      return list
    }
  }
}

/** Sets of stations whose list is cached: one for each set of permissions in use. */
const maxLists = 16

/** The array of these stations; `before` if it is still current. */
function joinList(stations: readonly LiveStation[], nowSeconds: number, before: CachedResponse | null) {
  const documents = stations.map(station => station.rest(nowSeconds))
  const etag = etagOf(...documents.map(document => document.etag))
  if (before?.etag === etag) return before
  const comma = Buffer.from(',')
  const parts = documents.flatMap(({ body }) => [comma, body])
  const body = Buffer.concat([Buffer.from('['), ...parts.slice(1), Buffer.from(']')])
  return { body, etag, position: null }
}

/** Fast for names that begin with a letter: most. */
function isDigits(text: string): boolean {
  const first = text.charCodeAt(0)
  return first >= 0x30 && first <= 0x39 && /^\d+$/.test(text)
}

/** `007` is not an id: only the canonical text of an id names a station. */
function idOf(digits: string): number | undefined {
  const id = Number(digits)
  return String(id) === digits ? id : undefined
}

const isNewer = (state: StationState, known: StationState) =>
  state.epoch !== known.epoch || state.offset > known.offset
