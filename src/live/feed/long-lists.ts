import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'

import type { LongList } from '../../model/station/live-view.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import { Overloaded } from '../../platform/runtime/errors.ts'
import { runInTimeSlices } from '../../platform/runtime/time-slices.ts'
import { engineTimeSeconds, type LiveStation, openTextHash } from './live-station.ts'

/** Length of a time slice in which documents are rendered. */
const sliceMs = 2

/** About the size of a piece, in characters. */
const pieceLength = 128 * 1024

/** With more stations, rendered documents are not kept for the next list, because each takes about 5 KB. */
const maxKeptDocuments = 10_000

type BuiltList = Omit<LongList, 'release'> & { readonly compressedBytes: number }

/** A list in memory. `responses`: closes each response that sends it. */
interface KeptList extends BuiltList {
  /** Its renderer, and the private stations in it. */
  readonly key: string
  readonly builtAtMs: number
  readonly responses: Set<() => void>
}

interface LongListOptions {
  /** Called with a station that is left out, because rendering it fails. */
  readonly onUnrendered?: (station: LiveStation, error: unknown) => void
  /** Maximum size of the lists in memory, compressed and without the newest. */
  readonly maxBytes?: number
  /** A list that is older may be evicted: a client has at least this time to read it. */
  readonly evictableAfterMs?: number
}

/**
 * The arrays of `GET /api/nowplaying` on a server with many stations. They are built one after another;
 * requests for the public list that wait for the next build share it. If the lists that are being sent take
 * too much memory, those older than a minute are evicted, and responses that still send them are closed.
 * While none is that old, requests get the newest list instead of a new one.
 */
export function openLongLists(
  all: () => readonly LiveStation[],
  own: StationRenderer,
  { onUnrendered = () => {}, maxBytes = 96 * 1_048_576, evictableAfterMs = 60_000 }: LongListOptions = {}
) {
  /** Oldest first. */
  const kept = new Set<KeptList>()
  const publicKey = keyOf(new Set(), own)
  let building: Promise<unknown> = Promise.resolve()
  let nextPublic: Promise<KeptList> | null = null

  const hasRoom = () => [...kept].reduce((sum, { compressedBytes }) => sum + compressedBytes, 0) < maxBytes

  function evictOld(): void {
    for (const list of kept) {
      if (hasRoom() || performance.now() - list.builtAtMs < evictableAfterMs) return
      kept.delete(list)
      for (const close of list.responses) close()
    }
  }

  /**
   * Builds a list, or returns the newest one with these stations if there is no room. Throws 503 if there is
   * none.
   */
  async function buildOrReuse(
    key: string,
    privateIds: ReadonlySet<number>,
    renderer: StationRenderer
  ): Promise<KeptList> {
    evictOld()
    if (hasRoom()) {
      const built = await buildList(all(), privateIds, renderer, onUnrendered)
      return { ...built, key, builtAtMs: performance.now(), responses: new Set() }
    }
    const newest = [...kept].findLast(list => list.key === key)
    if (newest === undefined)
      throw new Overloaded(5, 'Too many lists are being sent: try again in a few seconds.')
    return newest
  }

  /** Waits for its turn. */
  function provide(
    key: string,
    privateIds: ReadonlySet<number>,
    renderer: StationRenderer
  ): Promise<KeptList> {
    const provided = building.then(async () => {
      if (key === publicKey) nextPublic = null
      const list = await buildOrReuse(key, privateIds, renderer)
      kept.add(list)
      return list
    })
    building = provided.catch(() => {})
    return provided
  }

  return {
    /** See `longList` of `LiveView`. */
    take: async (
      privateIds: ReadonlySet<number>,
      onEvicted: () => void,
      renderer: StationRenderer = own
    ): Promise<LongList> => {
      const key = keyOf(privateIds, renderer)
      const provided = () => provide(key, privateIds, renderer)
      const list = await (key === publicKey ? (nextPublic ??= provided()) : provided())
      // Another response may have released it.
      kept.add(list)
      list.responses.add(onEvicted)
      const release = () => {
        list.responses.delete(onEvicted)
        if (list.responses.size === 0) kept.delete(list)
      }
      const { size, read, etag } = list
      return { size, read, etag, release }
    }
  }
}

const keyOf = (privateIds: ReadonlySet<number>, { name }: StationRenderer) =>
  `${name} ${[...privateIds].join()}`

/**
 * Renders the public stations and those among `privateIds` as one array, for the second at which it begins.
 */
async function buildList(
  all: readonly LiveStation[],
  privateIds: ReadonlySet<number>,
  renderer: StationRenderer,
  onUnrendered: (station: LiveStation, error: unknown) => void
): Promise<BuiltList> {
  const nowSeconds = engineTimeSeconds()
  const isKept = all.length <= maxKeptDocuments
  // Stations that change meanwhile are new objects, which only the next list contains.
  const stations = all.filter(({ isPublic, stationId }) => isPublic || privateIds.has(stationId))
  const rest = stations.values()
  const hash = openTextHash()
  const pieces = openPieces()
  let separator = '['

  /** Empty after the last station. */
  async function renderPiece(): Promise<string> {
    let text = ''
    await runInTimeSlices(sliceMs, () => {
      const { done, value: station } = rest.next()
      if (done === true) return false
      try {
        const element = station.restElement(nowSeconds, { isKept, renderer })
        hash.add(element.etag)
        text += separator + element.text
        separator = ','
      } catch (error) {
        onUnrendered(station, error)
      }
      return text.length < pieceLength
    })
    return text
  }

  for (let text = await renderPiece(); text !== ''; text = await renderPiece()) await pieces.add(text)
  await pieces.add(separator === '[' ? '[]' : ']')
  return { ...(await pieces.end()), etag: `W/"${hash.digest()}"` }
}

const compress = promisify(deflateRaw)
const decompress = promisify(inflateRaw)

/** Pieces of a document, compressed by other threads: uncompressed lists would need hundreds of megabytes. */
function openPieces() {
  const pieces: { readonly start: number; readonly compressed: Uint8Array }[] = []
  let size = 0
  let adding: Promise<unknown> = Promise.resolve()

  async function compressAt(start: number, bytes: Uint8Array): Promise<void> {
    pieces.push({ start, compressed: await compress(bytes, { level: constants.Z_BEST_SPEED }) })
  }

  return {
    /** Adds a text that is not empty; waits until the piece before is compressed. */
    add: async (text: string): Promise<void> => {
      await adding
      const bytes = Buffer.from(text)
      adding = compressAt(size, bytes)
      // An error is thrown by the next call.
      adding.catch(() => {})
      size += bytes.length
    },
    end: async () => {
      await adding
      return {
        size,
        compressedBytes: pieces.reduce((sum, { compressed }) => sum + compressed.length, 0),
        read: async (offset: number): Promise<Uint8Array> => {
          const piece = pieces.findLast(({ start }) => start <= offset)
          if (piece === undefined) return Buffer.alloc(0)
          return (await decompress(piece.compressed)).subarray(offset - piece.start)
        }
      }
    }
  }
}
