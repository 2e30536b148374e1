import type { Violation } from './violation.ts'

/** What one client saw of one station at one moment. */
export interface Sighting {
  /** Which client; it keeps its name over all its connections. */
  readonly client: string
  readonly stationId: number
  readonly epoch: string
  readonly offset: number
  /** The document without its moving numbers; null where only the position was told. */
  readonly content: string | null
}

export interface PositionJudge {
  /** Takes a sighting in; returns what it violates. */
  readonly see: (sighting: Sighting) => Violation[]
  /** Says that all servers show this epoch, so that no client may see an earlier one from now on. */
  readonly retireOthers: (stationId: number, epoch: string) => void
  /** A client comes without its position: it may be shown an older one than it has seen. */
  readonly forget: (client: string, stationId: number) => void
  /** The newest position that a client saw of a station; null before the first. */
  readonly positionOf: (
    client: string,
    stationId: number
  ) => { readonly epoch: string; readonly offset: number } | null
  /** How many contents were compared with one that had the same position. */
  readonly compared: () => number
  /** Epochs seen, over all stations. */
  readonly epochs: () => number
}

/** Contents that are remembered for each station. */
const contentsKept = 600

interface StationSightings {
  /** Content by `epoch offset`, oldest first. */
  readonly contents: Map<string, string>
  readonly epochs: Set<string>
  readonly retired: Set<string>
}

/**
 * Judges positions: within an epoch no client sees the offset go back, a pair of epoch and offset never names
 * two contents, whichever client saw them, and an epoch that is over never comes back.
 */
export function openPositionJudge(): PositionJudge {
  const stations = new Map<number, StationSightings>()
  const newest = new Map<string, { epoch: string; offset: number }>()
  let comparedCount = 0

  const sightingsOf = (stationId: number): StationSightings => {
    const known = stations.get(stationId)
    if (known) return known
    const made = { contents: new Map(), epochs: new Set<string>(), retired: new Set<string>() }
    stations.set(stationId, made)
    return made
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

/** The first place where two texts differ, with what surrounds it. */
export function describeDifference(one: string, other: string): string {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  const excerpt = (text: string) => text.slice(Math.max(0, at - 60), at + 80)
  return `…${excerpt(one)}… and …${excerpt(other)}…`
}
