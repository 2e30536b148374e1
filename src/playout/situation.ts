import type { Library } from '../autodj/library.ts'
import { readPlays } from '../db/library.ts'
import type { Tx } from '../db/sql.ts'
import { type Libraries, readLibraries, seenUpTo, type StationLibrary } from './libraries.ts'
import { pastOf } from './past.ts'
import {
  type LiveRow,
  type LockedStation,
  lockStations,
  readStations,
  type OpenPlay,
  readOpenPlays,
  readQueues,
  readRefused,
  readRequests,
  rulesOf
} from './rows.ts'

/** A station whose row is held, with everything a step of it depends on. */
export interface HeldStation {
  readonly station: LockedStation
  readonly play: OpenPlay | null
  readonly queue: readonly LiveRow[]
  readonly library: Library
}

const noLibrary: StationLibrary = { version: 0, playlists: [], past: { plays: [], older: new Map() } }

/**
 * Takes the rows of stations and reads what their steps depend on: one query of a kind, however many stations. With
 * `libraries` what is known of their playlists is not read again; a transaction that has changed a library gives null.
 */
export async function holdStations(
  tx: Tx,
  stationIds: readonly number[],
  nowMs: number,
  libraries: Libraries | null
): Promise<HeldStation[]> {
  // The triggers that count changes of a library wait for the commit; a change of our own has to count here.
  if (libraries === null) await tx`set constraints all immediate`
  return readSituations(tx, stationIds, nowMs, libraries, lockStations)
}

/** The same for one that is only looked at; null if it is unknown. */
export async function readStation(tx: Tx, stationId: number, nowMs: number): Promise<HeldStation | null> {
  const [station] = await readSituations(tx, [stationId], nowMs, null, readStations)
  return station ?? null
}

async function readSituations(
  tx: Tx,
  stationIds: readonly number[],
  nowMs: number,
  libraries: Libraries | null,
  takeStations: typeof lockStations
): Promise<HeldStation[]> {
  const known = stationIds.flatMap(id => {
    const upTo = libraries && seenUpTo(libraries, id)
    return upTo === null ? [] : [{ id, upTo }]
  })
  const [stations, plays, queue, requests, refused, newPlays] = await Promise.all([
    takeStations(tx, stationIds),
    readOpenPlays(tx, stationIds),
    readQueues(tx, stationIds),
    readRequests(tx, stationIds),
    readRefused(tx, stationIds, nowMs),
    known.length > 0
      ? readPlays(
          tx,
          known.map(({ id }) => id),
          { ids: known.map(({ upTo }) => upTo) }
        )
      : []
  ])
  const found = await readLibraries(
    tx,
    stations.filter(station => station.hasAutodj),
    nowMs,
    libraries && { libraries, plays: newPlays }
  )
  const isSingle = stations.length === 1
  return stations.map(station => {
    const { playlists, past } = found.get(station.id) ?? noLibrary
    const own = <Row extends { readonly stationId: number }>(rows: readonly Row[]) =>
      isSingle ? rows : rows.filter(isOf(station.id))
    return {
      station,
      play: plays.find(isOf(station.id)) ?? null,
      queue: own(queue),
      library: {
        rules: rulesOf(station),
        playlists,
        past: pastOf(past, own(refused)),
        requests: own(requests)
      }
    }
  })
}

const isOf = (id: number) => (row: { readonly stationId: number }) => row.stationId === id

/** The same for one; null if it is unknown. */
export async function holdStation(
  tx: Tx,
  stationId: number,
  nowMs: number,
  libraries: Libraries | null
): Promise<HeldStation | null> {
  const [held] = await holdStations(tx, [stationId], nowMs, libraries)
  return held ?? null
}
