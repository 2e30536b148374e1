import type { Zone } from '../autodj/zone.ts'
import type { Sql, Tx } from '../db/sql.ts'
import { OperatorError } from '../errors.ts'
import { readLibraries } from '../playout/libraries.ts'
import { pastOf } from '../playout/past.ts'
import {
  followedAtMs,
  readOpenPlay,
  readQueues,
  readRefused,
  readRequests,
  readStations,
  rulesOf
} from '../playout/rows.ts'
import type { SimulatedStation } from './station.ts'

/** What is to be different from the station; null: nothing. */
export interface Wishes {
  readonly zone: Zone | null
  readonly seed: number | null
  /** The local date on which it begins, as days since 1970-01-01; null: when what is on air ends. */
  readonly fromDay: number | null
}

/**
 * Reads a station, found by id or short name, with its past, its queue and waiting requests, in one look that holds nothing and
 * cannot write. A simulation that begins on a date begins with an empty queue. Throws an `OperatorError` for an unknown
 * station, and for a database that another version of Cuewire made. It may be switched off: it is checked before it goes on air.
 */
export async function readDatabaseStation(
  sql: Sql,
  name: string,
  nowMs: number,
  wishes: Wishes
): Promise<SimulatedStation> {
  try {
    return await sql.begin('isolation level repeatable read read only', tx => read(tx, name, nowMs, wishes))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    // An unknown table or column.
    if (code !== '42P01' && code !== '42703') throw error
    throw new OperatorError(
      'the database belongs to another version of Cuewire: start this one on it first',
      {
        cause: error
      }
    )
  }
}

async function read(tx: Tx, name: string, nowMs: number, wishes: Wishes): Promise<SimulatedStation> {
  const known = await findStation(tx, name)
  const ids = [known.id]
  const [station] = await readStations(tx, ids)
  if (!station) throw new OperatorError(`the station ${JSON.stringify(name)} went away`)
  const own = rulesOf(station)
  const zone = wishes.zone ?? own.zone
  const rules = { ...own, zone, seed: wishes.seed ?? own.seed }
  const play = await readOpenPlay(tx, station.id)
  const isNow = wishes.fromDay === null
  const endsAtMs = play ? (play.dueAtMs ?? followedAtMs(play, rules.overlapMs)) : nowMs
  const fromMs =
    wishes.fromDay === null ? Math.max(nowMs, endsAtMs) : zone.instant(wishes.fromDay, 0, 'first')
  const libraries = await readLibraries(tx, [station], Math.min(nowMs, fromMs), null)
  const { playlists, past } = libraries.get(station.id) ?? {
    playlists: [],
    past: { plays: [], older: new Map() }
  }
  const refused = await readRefused(tx, ids, nowMs)
  const names = await readNames(tx, station.id)
  return {
    name: known.name,
    beginning: {
      library: {
        rules,
        playlists,
        past: pastOf({ ...past, plays: past.plays.filter(each => each.startsAtMs < fromMs) }, refused),
        requests: await readRequests(tx, ids)
      },
      queue: isNow ? await readQueues(tx, ids) : [],
      startedAtMs: isNow && play ? play.startedAtMs : fromMs,
      fromMs,
      queueLength: station.queueLength,
      nextSeq: station.nextSeq
    },
    songName: mediaId => names.get(mediaId ?? 0) ?? ''
  }
}

const shownStations = 20

async function findStation(tx: Tx, name: string): Promise<{ readonly id: number; readonly name: string }> {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : null
  const [station] = await tx<{ id: number; name: string }[]>`
    select id, name from stations where id = ${id} or short_name = ${name}`
  if (station) return station
  const others = await tx<{ short_name: string }[]>`
    select short_name from stations where deleted_at is null order by short_name limit ${shownStations + 1}`
  const names = others.slice(0, shownStations).map(row => row.short_name)
  const more = others.length > shownStations ? ' and more' : ''
  throw new OperatorError(
    `there is no station ${JSON.stringify(name)}; known: ${names.join(', ') || 'none'}${more}`
  )
}

async function readNames(tx: Tx, stationId: number): Promise<Map<number, string>> {
  const rows = await tx<{ id: number; artist: string; title: string }[]>`
    select id, artist, title from media where station_id = ${stationId}`
  return new Map(rows.map(({ id, artist, title }) => [id, [artist, title].filter(Boolean).join(' - ')]))
}
