import { markStationDeleted } from '../../../engine/station-removal.ts'
import { makeShortName, shortNamePattern } from '../../../model/station/short-name.ts'
import { OperatorError } from '../../../platform/runtime/operator-error.ts'
import type { MigrationReport } from '../migration-report.ts'
import { type AzuracastMigration, readSourceRows } from '../migration.ts'
import type { RowReader, SourceRow } from '../source.ts'

/** What identifies a station. */
export interface StationNames {
  readonly id: number
  readonly name: string
  readonly shortName: string
}

/** That of a station of AzuraCast. */
export interface SourceStationNames extends StationNames {
  /** Its short name there, which may not be valid here. */
  readonly sourceShortName: string
}

/** A station of AzuraCast that is not taken yet, and the one that is in its way. */
export interface StationConflict extends SourceStationNames {
  /** The station of Cuewire that has the id, or else the short name. */
  readonly other: StationNames
}

/** Finds stations whose id or short name another station has. */
export async function findStationConflicts(migration: AzuracastMigration): Promise<StationConflict[]> {
  const fresh = await readNewStations(migration)
  const known = await migration.sql<StationNames[]>`
    select id, name, short_name as "shortName" from stations
    where id = any(${fresh.map(({ id }) => id)}::bigint[])
      or short_name = any(${fresh.map(({ shortName }) => shortName)}::text[])`
  return fresh.flatMap(source => {
    const other =
      known.find(({ id }) => id === source.id) ??
      known.find(({ shortName }) => shortName === source.shortName)
    return other ? [{ ...source, other }] : []
  })
}

async function readNewStations(migration: AzuracastMigration): Promise<SourceStationNames[]> {
  const fresh: SourceStationNames[] = []
  for await (const { row, read } of readSourceRows(migration, 'station')) {
    const source = readStationNames(row, read)
    if (!migration.ids.wasTaken(source.id)) fresh.push(source)
  }
  return fresh
}

const isKept = ({ shortName, sourceShortName }: SourceStationNames) => shortName === sourceShortName

/**
 * Chooses the short names of stations that no earlier run has taken, by their ids in AzuraCast. A name that another
 * station has gets a number; stations that keep theirs come first.
 */
export async function chooseShortNames(
  migration: AzuracastMigration,
  conflicts: readonly StationConflict[]
): Promise<Map<number, string>> {
  const { sql, onConflict } = migration
  const fresh = await readNewStations(migration)
  const known = await sql<{ name: string }[]>`select short_name as name from stations`
  const taken = new Set(known.map(({ name }) => name))
  // In a dry run the stations that would be replaced are still there, and those that would be refused are listed
  // elsewhere.
  if (onConflict === 'replace' || onConflict === 'refuse')
    for (const { other } of conflicts) taken.delete(other.shortName)
  const isLeftOut = (id: number) => onConflict === 'skip' && conflicts.some(conflict => conflict.id === id)
  const chosen = new Map<number, string>()
  for (const { id, shortName } of [...fresh.filter(isKept), ...fresh.filter(each => !isKept(each))]) {
    if (isLeftOut(id)) continue
    let name = shortName
    for (let number = 2; taken.has(name); number++) name = makeShortName(shortName, number)
    taken.add(name)
    chosen.set(id, name)
  }
  return chosen
}

/** Throws an `OperatorError` that names the conflicts and what can be done. */
export function refuseStationConflicts(conflicts: readonly StationConflict[]): never {
  const lines = conflicts.map(conflict => `  ${describeConflict(conflict)}`)
  throw new OperatorError(
    `stations of AzuraCast have the id or short name of a station of Cuewire:\n${lines.join('\n')}\n` +
      'Nothing was changed. Use --on-conflict renumber (the stations of AzuraCast get new ids and short names), ' +
      '--on-conflict skip (they are left out) or --on-conflict replace (the stations of Cuewire are deleted).'
  )
}

/** Adds the conflicts to the report of a dry run, which refuses nothing. */
export function reportStationConflicts(report: MigrationReport, conflicts: readonly StationConflict[]): void {
  report.advise('Choose --on-conflict renumber, skip or replace: without it these stations are refused.')
  for (const conflict of conflicts) report.advise(`  ${describeConflict(conflict)}`)
}

/** Deletes the stations of Cuewire that are in the way, with all their records. */
export async function deleteConflictingStations(
  { sql, report }: AzuracastMigration,
  conflicts: readonly StationConflict[]
): Promise<void> {
  for (const { other } of conflicts) {
    await sql.begin(async tx => {
      await markStationDeleted(tx, other.id)
      await tx`delete from stations where id = ${other.id}`
    })
    report.advise(`The station ${describeStation(other)} of Cuewire was deleted.`)
  }
}

/** Reads the identity of a station; a short name that is not valid here is replaced. */
export function readStationNames(row: SourceRow, read: RowReader): SourceStationNames {
  const name = (read.text(row, 'name') ?? '').trim()
  const sourceShortName = read.text(row, 'short_name') ?? ''
  return {
    id: read.number(row, 'id'),
    name,
    shortName: shortNamePattern.test(sourceShortName)
      ? sourceShortName
      : makeShortName(sourceShortName || name),
    sourceShortName
  }
}

/** A short name that no station can have here, and by which its station is found as well; null if it has none. */
export const formerNameOf = ({ sourceShortName: name }: SourceStationNames): string | null =>
  shortNamePattern.test(name) || /^\d*$/.test(name) ? null : name

const describeConflict = (conflict: StationConflict) =>
  `${describeStation(conflict)}: Cuewire has ${describeStation(conflict.other)}`

export const describeStation = ({ id, name, shortName }: StationNames) => `${name} (${id}, ${shortName})`
