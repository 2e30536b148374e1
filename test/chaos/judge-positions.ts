import type { Violation } from './violation.ts'

/** The state of one station that one client received at one moment. */
interface Sighting {
  /** The name of the client, constant over all its connections. */
  readonly client: string
  readonly stationId: number
  readonly epoch: string
  readonly offset: number
  /** The document without values that depend on the time; null if only the position was received. */
  readonly content: string | null
}

export interface PositionJudge {
  /** Records a sighting. Returns its violations. */
  readonly see: (sighting: Sighting) => Violation[]
  /** Records that all servers have this epoch, so that clients must not receive another one from now on. */
  readonly retireOthers: (stationId: number, epoch: string) => void
  /** The client connects without its position, so it may receive an older one. */
  readonly forget: (client: string, stationId: number) => void
  /** The newest position that a client received of a station, or null. */
  readonly positionOf: (
    client: string,
    stationId: number
  ) => { readonly epoch: string; readonly offset: number } | null
  /** The number of contents that were compared with one of the same position. */
  readonly compared: () => number
  /** The number of epochs of all stations. */
  readonly epochs: () => number
}

/** The number of contents kept for each station. */
const contentsKept = 600

interface StationSightings {
  /** Content by `epoch offset`, oldest first. */
  readonly contents: Map<string, string>
  readonly epochs: Set<string>
  readonly retired: Set<string>
}

/**
 * Checks positions: within an epoch the offset of a client never decreases, an epoch and an offset identify
 * one content for all clients, and an ended epoch never returns.
 */
export function openPositionJudge(): PositionJudge {
  const stations = new Map<number, StationSightings>()
  const newest = new Map<string, { epoch: string; offset: number }>()
  let comparedCount = 0

  const sightingsOf = (stationId: number): StationSightings => {
    const known = stations.get(stationId)
    if (known) return known
    const created = { contents: new Map(), epochs: new Set<string>(), retired: new Set<string>() }
    stations.set(stationId, created)
    return created
  }

  return {
    see: ({ client, stationId, epoch, offset, content }) => {
      const found: Violation[] = []
      const report = (rule: string, detail: string) =>
        found.push({ rule, stationId, detail: `${client}: ${detail}` })
      const station = sightingsOf(stationId)
      if (epoch === '' || !Number.isSafeInteger(offset))
        return [{ rule: 'a position is whole', stationId, detail: `${client}: "${epoch}" ${offset}` }]
      const key = `${client} ${stationId}`
      const before = newest.get(key)
      if (before?.epoch === epoch && offset < before.offset)
        report('offsets never go back', `${epoch} ${before.offset}, then ${offset}`)
      if (station.retired.has(epoch)) report('an epoch never returns', `${epoch} ${offset}`)
      newest.set(key, { epoch, offset })
      station.epochs.add(epoch)
      if (content === null) return found
      const pair = `${epoch} ${offset}`
      const known = station.contents.get(pair)
      if (known !== undefined) {
        comparedCount++
        if (known !== content)
          report('one content for a position', `${pair}: ${describeDifference(known, content)}`)
        return found
      }
      station.contents.set(pair, content)
      if (station.contents.size > contentsKept)
        for (const oldest of station.contents.keys()) {
          station.contents.delete(oldest)
          break
        }
      return found
    },
    retireOthers: (stationId, epoch) => {
      const { epochs, retired } = sightingsOf(stationId)
      for (const each of epochs) if (each !== epoch) retired.add(each)
    },
    forget: (client, stationId) => void newest.delete(`${client} ${stationId}`),
    positionOf: (client, stationId) => newest.get(`${client} ${stationId}`) ?? null,
    compared: () => comparedCount,
    epochs: () => [...stations.values()].reduce((sum, { epochs }) => sum + epochs.size, 0)
  }
}

/** Describes the first difference of two texts, with its context. */
export function describeDifference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const excerpt = (text: string) => text.slice(Math.max(0, at - 60), at + 80)
  return `…${excerpt(one)}… and …${excerpt(other)}…`
}
