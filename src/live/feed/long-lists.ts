import { promisify } from 'node:util'
import { constants, deflateRaw, inflateRaw } from 'node:zlib'

import { runInTimeSlices } from '../../runtime/time-slices.ts'
import type { LongList } from '../../station/live-view.ts'
import { engineSeconds, type LiveStation, openHash } from './live-station.ts'

/** Length of a time slice in which documents are rendered. */
const sliceMs = 2

/** About the size of a piece, in characters. */
const pieceLength = 128 * 1024

/** With more stations, rendered documents are not kept for the next list, because each takes about 5 KB. */
const maxKeptDocuments = 10_000

/** Maximum number of lists in memory, in addition to the one that is being built. */
const maxKept = 2

type BuiltList = Omit<LongList, 'release'>

/**
 * The arrays of `GET /api/nowplaying` on a server with many stations. They are built one after another;
 * requests for the public list that wait for the next build share it. When the memory is needed, the oldest
 * list is evicted, and responses that still send it are closed.
 */
export function openLongLists(all: () => readonly LiveStation[]) {
  /** The lists in memory, oldest first, with a function for each response that closes it. */
  const kept = new Map<BuiltList, Set<() => void>>()
  let building: Promise<unknown> = Promise.resolve()
  let nextPublic: Promise<BuiltList> | null = null

  function build(privateIds: ReadonlySet<number>): Promise<BuiltList> {
    const built = building.then(() => {
      if (privateIds.size === 0) nextPublic = null
      return buildList(all(), privateIds)
    })
    building = built.catch(() => {})
    return built
  }

  function evictOldest(): void {
    for (const [built, responses] of kept) {
      if (kept.size < maxKept) return
      kept.delete(built)
      for (const close of responses) close()
    }
  }

  return {
    /** See `longList` of `LiveView`. */
    take: async (privateIds: ReadonlySet<number>, onEvicted: () => void): Promise<LongList> => {
      const isPublicOnly = privateIds.size === 0
      const built = await (isPublicOnly ? (nextPublic ??= build(privateIds)) : build(privateIds))
      if (!kept.has(built)) {
        evictOldest()
        kept.set(built, new Set())
      }
      const responses = kept.get(built)
      responses?.add(onEvicted)
      const release = () => {
        responses?.delete(onEvicted)
        if (responses?.size === 0) kept.delete(built)
      }
      return { ...built, release }
    }
  }
}

/**
 * Renders the public stations and those among `privateIds` as one array, for the second at which it begins.
 */
async function buildList(all: readonly LiveStation[], privateIds: ReadonlySet<number>): Promise<BuiltList> {
  const nowSeconds = engineSeconds()
  const isKept = all.length <= maxKeptDocuments
  // Stations that change meanwhile are new objects, which only the next list contains.
  const stations = all.filter(({ isPublic, stationId }) => isPublic || privateIds.has(stationId))
  const rest = stations.values()
  const hash = openHash()
  const pieces = openPieces()
  let separator = '['

  /** Empty after the last station. */
  async function renderPiece(): Promise<string> {
    let text = ''
    await runInTimeSlices(sliceMs, () => {
      const { done, value: station } = rest.next()
      if (done === true) return false
      const element = station.restElement(nowSeconds, { isKept })
      hash.add(element.etag)
      text += separator + element.text
      separator = ','
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
      size += bytes.length
    },
    end: async () => {
      await adding
      return {
        size,
        read: async (offset: number): Promise<Uint8Array> => {
          const piece = pieces.findLast(({ start }) => start <= offset)
          if (piece === undefined) return Buffer.alloc(0)
          return (await decompress(piece.compressed)).subarray(offset - piece.start)
        }
      }
    }
  }
}
