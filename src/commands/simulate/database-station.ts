import { readSimulationStart } from '../../engine/queue/simulation-start.ts'
import type { SimulatedStation } from '../../model/autodj/simulation/run.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { findStationForCommand, createUnknownStationError } from '../../stores/db/named-stations.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import type { SimulateArguments } from './arguments.ts'

/** Settings that differ from those of the station; null: no difference. */
export type StationOverrides = Pick<SimulateArguments, 'zone' | 'seed' | 'fromDay'>

/**
 * Reads a station by id or short name, in a read-only transaction. The queue is empty if the simulation
 * starts on a date. Throws an `OperatorError` if the station is unknown or the schema has another version.
 */
export async function readDatabaseStation(
  sql: Sql,
  name: string,
  nowMs: number,
  overrides: StationOverrides
): Promise<SimulatedStation> {
  try {
    return await sql.begin('isolation level repeatable read read only', tx =>
      readStation(tx, name, nowMs, overrides)
    )
  } catch (error) {
    const isUnknownColumnOrTable = ['42P01', '42703'].includes(errorCodeOf(error))
    if (!isUnknownColumnOrTable) throw error
    throw new OperatorError(
      'the database belongs to another version of Cuewire: start this one on it first',
      { cause: error }
    )
  }
}

async function readStation(
  tx: Tx,
  name: string,
  nowMs: number,
  { zone, seed, fromDay }: StationOverrides
): Promise<SimulatedStation> {
  const found = await findStationForCommand(tx, name)
  if (!found) throw await createUnknownStationError(tx, name)
  const read = await readSimulationStart(tx, found.id, nowMs, fromDay, { zone, seed })
  if (!read) throw new OperatorError(`the station ${JSON.stringify(name)} was deleted`)
  const names = await readTitles(tx, found.id)
  return {
    name: found.name,
    start: read.start,
    songName: mediaId => names.get(mediaId ?? 0) ?? ''
  }
}

async function readTitles(tx: Tx, stationId: number): Promise<Map<number, string>> {
  const rows = await tx<{ id: number; artist: string; title: string }[]>`
    select id, artist, title from media where station_id = ${stationId}`
  return new Map(rows.map(({ id, artist, title }) => [id, [artist, title].filter(Boolean).join(' - ')]))
}
