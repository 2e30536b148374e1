import type { CachedResponse } from '../../model/station/cached-response.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import type { StationState } from '../../model/station/state.ts'
import { createEtag, LiveStation } from './live-station.ts'
import { openLongLists } from './long-lists.ts'

/**
 * All stations of a server, by id and by short name. Within an epoch the offset of a station never decreases;
 * another epoch replaces it.
 */
export type StationCatalogue = ReturnType<typeof openStationCatalogue>

/** Receives a station and what rendering it throws. */
export type OnRenderError = (station: LiveStation, error: unknown) => void

interface CatalogueOptions {
  /** Called with every id and short name that no longer names the station it named. */
  readonly onRemoved?: (idOrName: string) => void
  /** Called with a station that is left out of a list, because rendering it fails. */
  readonly onUnrendered?: OnRenderError
}

/** `own`: the default renderer. */
export function openStationCatalogue(
  own: StationRenderer,
  { onRemoved = () => {}, onUnrendered = () => {} }: CatalogueOptions = {}
) {
  const byId = new Map<number, LiveStation>()
  const idByName = new Map<string, number>()
  /** Names that stations had elsewhere, which are no short names here, so that no other station gets them. */
  const idByFormerName = new Map<string, number>()
  const formerNames = new Map<number, string>()
  /** In id order, without those in `added`. */
  let sorted: LiveStation[] = []
  let added: LiveStation[] = []
  /** The public stations in id order; null after one was added or removed. */
  let publicIds: readonly number[] | null = null
  let publicSecond = -1
  let publicList: CachedResponse | null = null
  /** The newest list of each set of stations and renderer. */
  const lists = new Map<string, CachedResponse>()
  const longLists = openLongLists(all, own, { onUnrendered })

  /** Releases a name, to another station that has it: the two changes may arrive in any order. */
  function releaseName({ stationId, shortName }: LiveStation): void {
    if (idByName.get(shortName) !== stationId) return
    idByName.delete(shortName)
    for (const other of byId.values())
      if (other.shortName === shortName) idByName.set(shortName, other.stationId)
  }

  /** In id order. */
  function all(): readonly LiveStation[] {
    if (added.length > 0) {
      // Fast, because most of the list is in order.
      sorted = [...sorted, ...added].toSorted(byStationId)
      added = []
    }
    return sorted
  }

  /** Replaces the former state of a station in the sorted list. */
  function replaceSorted(station: LiveStation): void {
    const index = indexOf(all(), station.stationId)
    sorted[index] = station
  }

  function noteChange(before: LiveStation | undefined, after: LiveStation | undefined): void {
    publicSecond = -1
    if ((before?.isPublic ?? false) !== (after?.isPublic ?? false)) publicIds = null
  }

  return {
    all,
    get: (stationId: number) => byId.get(stationId),
    /** By id, short name or former name, as in a path or channel; a text of digits is always an id. */
    find: (idOrName: string) => {
      const id = isDigits(idOrName)
        ? idOf(idOrName)
        : (idByName.get(idOrName) ?? idByFormerName.get(idOrName))
      return id === undefined ? undefined : byId.get(id)
    },
    /** The id and all names of a station, as in channels. */
    namesOf: ({ stationId, shortName }: LiveStation): readonly (string | number)[] => [
      stationId,
      shortName,
      ...(formerNames.has(stationId) ? [formerNames.get(stationId) ?? ''] : [])
    ],
    /** Lets a station be found by the name that it had elsewhere. */
    setFormerName: (stationId: number, name: string): void => {
      idByFormerName.set(name, stationId)
      formerNames.set(stationId, name)
    },
    /** Stores a state if it is newer; returns false if it is not. */
    put: (state: StationState): boolean => {
      const known = byId.get(state.stationId)
      if (known !== undefined && !isNewer(state, known)) return false
      const station = LiveStation.of(state, own)
      byId.set(state.stationId, station)
      if (known === undefined) added.push(station)
      else replaceSorted(station)
      if (known?.shortName !== station.shortName) {
        if (known !== undefined) releaseName(known)
        idByName.set(station.shortName, state.stationId)
        if (known !== undefined) onRemoved(known.shortName)
      }
      noteChange(known, station)
      return true
    },
    /** Stores newer counts of a stored state. */
    putCounts: (known: LiveStation, counts: Pick<StationState, 'offset' | 'listeners'>): LiveStation => {
      const station = known.withCounts(counts)
      byId.set(station.stationId, station)
      replaceSorted(station)
      publicSecond = -1
      return station
    },
    remove: (stationId: number) => {
      const known = byId.get(stationId)
      if (known === undefined) return
      byId.delete(stationId)
      sorted = all().filter(station => station !== known)
      releaseName(known)
      noteChange(known, undefined)
      onRemoved(String(stationId))
      onRemoved(known.shortName)
      const former = formerNames.get(stationId)
      if (former === undefined) return
      formerNames.delete(stationId)
      idByFormerName.delete(former)
      onRemoved(former)
    },
    size: () => byId.size,
    /** The ids of the public stations, in order. */
    publicIds: () =>
      (publicIds ??= all()
        .filter(({ isPublic }) => isPublic)
        .map(({ stationId }) => stationId)),
    /**
     * The array of `GET /api/nowplaying` with the public stations, rendered for `nowSeconds`; null if there
     * are too many to render at once.
     */
    publicList: (nowSeconds: number): CachedResponse | null => {
      if (byId.size > maxStationsRenderedAtOnce) return null
      if (publicList !== null && publicSecond === nowSeconds) return publicList
      publicSecond = nowSeconds
      return (publicList = joinList(all().filter(isPublic), nowSeconds, own, publicList, onUnrendered))
    },
    longLists,
    /** The same with these stations, in this order, by any renderer. */
    list: (
      stations: readonly LiveStation[],
      nowSeconds: number,
      renderer: StationRenderer = own
    ): CachedResponse => {
      const choice = `${renderer.name} ${stations.map(({ stationId }) => stationId).join()}`
      const list = joinList(stations, nowSeconds, renderer, lists.get(choice) ?? null, onUnrendered)
      if (!lists.has(choice) && lists.size >= maxLists) lists.clear()
      lists.set(choice, list)
      return list
    }
  }
}

/** Lists of more stations are built in time slices. */
export const maxStationsRenderedAtOnce = 1_000

const isPublic = (station: LiveStation) => station.isPublic

const byStationId = (a: LiveStation, b: LiveStation) => a.stationId - b.stationId

/** The index of a station in a list that is in id order and contains it. */
function indexOf(stations: readonly LiveStation[], stationId: number): number {
  let [low, high] = [0, stations.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((stations[middle]?.stationId ?? Infinity) < stationId) low = middle + 1
    else high = middle
  }
  return low
}

/** Sets of stations whose list is cached: one for each set of permissions in use. */
const maxLists = 16

/** The array of these stations; `before` if it is still current. */
function joinList(
  stations: readonly LiveStation[],
  nowSeconds: number,
  renderer: StationRenderer,
  before: CachedResponse | null,
  onUnrendered: OnRenderError
) {
  const documents = stations.flatMap(station => {
    try {
      return station.document('rest', nowSeconds, renderer)
    } catch (error) {
      onUnrendered(station, error)
      return []
    }
  })
  const etag = createEtag(...documents.map(document => document.etag))
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

const isNewer = (state: StationState, known: LiveStation) =>
  state.epoch !== known.epoch || state.offset > known.offset
