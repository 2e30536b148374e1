import { runInTimeSlices } from '../../runtime/time-slices.ts'
import type { LongList } from '../../station/live-view.ts'
import { engineSeconds, type LiveStation, openHash } from './live-station.ts'

/** Length of a time slice in which documents are rendered. */
const sliceMs = 2

/** About the size of a piece, in characters. */
const pieceLength = 128 * 1024

/** Maximum number of lists in memory, besides the one that is built. */
const maxKept = 2

type Built = Omit<LongList, 'release'>

/**
 * The arrays of `GET /api/nowplaying` on a server with many stations: up to hundreds of megabytes. They are built
 * one after another; requests for the public list that wait for the next build share it. Responses that still
 * send an old list are revoked when its memory is needed.
 */
export function openLongLists(all: () => readonly LiveStation[]) {
  /** The lists in memory, oldest first, with what revokes each of their responses. */
  const kept = new Map<Built, Set<() => void>>()
  let building: Promise<unknown> = Promise.resolve()
  let nextPublic: Promise<Built> | null = null

  function build(privateIds: ReadonlySet<number>): Promise<Built> {
    const built = building.then(() => {
      if (privateIds.size === 0) nextPublic = null
      return buildList(all(), privateIds)
    })
    building = built.catch(() => {})
    return built
  }

  function makeRoom(): void {
    for (const [built, responses] of kept) {
      if (kept.size < maxKept) return
      kept.delete(built)
      for (const revoke of responses) revoke()
    }
  }

  return {
    /** See `longList` of `LiveView`. */
    take: async (privateIds: ReadonlySet<number>, onRevoked: () => void): Promise<LongList> => {
      const isPublicOnly = privateIds.size === 0
      const built = await (isPublicOnly ? (nextPublic ??= build(privateIds)) : build(privateIds))
      if (!kept.has(built)) {
        makeRoom()
        kept.set(built, new Set())
      }
      const responses = kept.get(built)
      responses?.add(onRevoked)
      const release = () => {
        responses?.delete(onRevoked)
        if (responses?.size === 0) kept.delete(built)
      }
      return { ...built, release }
    }
  }
}

/** Renders the public stations and those among `privateIds` as one array, for the second at which it begins. */
async function buildList(stations: readonly LiveStation[], privateIds: ReadonlySet<number>): Promise<Built> {
  const nowSeconds = engineSeconds()
  // What is put in the place of a station meanwhile is part of the next list.
  const rest = stations.slice().values()
  const hash = openHash()
  const pieces: Uint8Array[] = []
  let bytes = 0
  let text = '['

  function endPiece(): void {
    const piece = Buffer.from(text)
    pieces.push(piece)
    bytes += piece.length
    text = ''
  }

  let separator = ''
  await runInTimeSlices(sliceMs, () => {
    const { done, value: station } = rest.next()
    if (done === true) return false
    if (!station.isPublic && !privateIds.has(station.stationId)) return true
    const element = station.restElement(nowSeconds)
    hash.add(element.etag)
    text += separator + element.text
    separator = ','
    if (text.length >= pieceLength) endPiece()
    return true
  })
  text += ']'
  endPiece()
  return { pieces, bytes, etag: `W/"${hash.digest()}"` }
}
