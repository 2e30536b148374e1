import type { CachedResponse } from './cached-response.ts'
import type { StationVisibility } from './listen-grant.ts'
import type { StationState } from './state.ts'

/** A rendering of a station: for the REST interface, for events, or as one line of text. */
export type DocumentKind = 'rest' | 'event' | 'line'

/** The position of a station that a server shows. */
export type ShownPosition = Pick<StationState, 'stationId' | 'epoch' | 'offset'>

/** The fields of a station that lists and totals of all stations need, without its whole state. */
export interface StationListing extends StationVisibility {
  readonly shortName: string
  readonly isOnline: boolean
  readonly listeners: number
  readonly uniqueListeners: number
  readonly read: () => StationState
}

/** A document of many stations, which is compressed in memory. */
export interface LongList {
  readonly size: number
  /**
   * Returns the bytes from an offset to the end of its piece: at least one, if the offset is less than
   * `size`.
   */
  readonly read: (offset: number) => Promise<Uint8Array>
  /** As of a `CachedResponse`. */
  readonly etag: string
  /** To be called once the document was sent, or will not be. */
  readonly release: () => void
}

/** The now-playing documents and station states that a server keeps in memory. */
export interface LiveView {
  /** The same with the documents of the renderer of this name. Only the lists of the default one are kept. */
  readonly renderedBy: (name: string) => LiveView
  /** A station by id, as a number or all digits, or by short name. */
  readonly find: (idOrName: string | number) => StationListing | undefined
  /** The state of the same station. It is decompressed, and kept as an object for a while: `find` needs less. */
  readonly findState: (idOrName: string | number) => StationState | undefined
  /** All stations, in id order. */
  readonly all: () => readonly StationListing[]
  /** The current document of a station; undefined if it does not exist. */
  readonly document: (stationId: number, kind: DocumentKind) => CachedResponse | undefined
  /** The current document of a public station by id or short name; undefined for all others. */
  readonly publicDocument: (key: string, kind: DocumentKind) => CachedResponse | undefined
  /** The ids of the public stations, in order. */
  readonly publicIds: () => readonly number[]
  /**
   * The current documents of all public stations as one array; null if there are too many: see `longList`.
   */
  readonly publicList: () => CachedResponse | null
  /**
   * The same array with any number of stations, built in time slices, and with the private stations in
   * `privateIds`. Calls `onEvicted` if the memory is needed for a newer list before this one is released.
   */
  readonly longList: (privateIds: ReadonlySet<number>, onEvicted: () => void) => Promise<LongList>
  /** The current documents of these stations as one array, without those that do not exist. */
  readonly list: (stationIds: readonly number[]) => CachedResponse
  /** Calls `listener` after every change of a station. Returns the function that unsubscribes it. */
  readonly onChange: (listener: (station: ShownPosition) => void) => () => void
  /** Waits until this server has the last published state of a station. Never rejects. */
  readonly catchUp: (stationId: number) => Promise<void>
  /**
   * `isCurrent`: Redis accepts writes and was read within the last 5 seconds. `checkedAtMs`: when all states
   * were last known to equal those in Redis, in Unix milliseconds.
   */
  readonly health: () => {
    readonly isCurrent: boolean
    /** Whether the node of Redis that this server reached refuses writes, which another may take. */
    readonly isNodeRefusing: boolean
    readonly checkedAtMs: number
    readonly stations: number
  }
}
