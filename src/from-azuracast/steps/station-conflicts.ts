import { markStationDeleted } from '../../playout/station-removal.ts'
import { OperatorError } from '../../runtime/errors.ts'
import { makeShortName, shortNamePattern } from '../../station/short-name.ts'
import { type Migration, rowsOf } from '../migration.ts'
import type { Report } from '../report.ts'
import type { Reader, SourceRow } from '../source.ts'

/** What identifies a station. */
export interface StationIdentity {
  readonly id: number
  readonly name: string
  readonly shortName: string
}

/** A station of AzuraCast that is not taken yet, and the one that is in its way. */
export interface Conflict extends StationIdentity {
  /** The station of Cuewire that has the id, or else the short name. */
  readonly other: StationIdentity
}

/** Finds stations whose id or short name another station has. */
export async function findConflicts(migration: Migration): Promise<Conflict[]> {
  const fresh: StationIdentity[] = []
  for await (const { row, read } of rowsOf(migration, 'station')) {
    const source = identify(row, read)
    if (!migration.ids.wasTaken(source.id)) fresh.push(source)
  }
  const known = await migration.sql<StationIdentity[]>`
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

/** Throws an `OperatorError` that names the conflicts and what can be done. */
export function refuseConflicts(conflicts: readonly Conflict[]): never {
  const lines = conflicts.map(conflict => `  ${describeConflict(conflict)}`)
  throw new OperatorError(
    `stations of AzuraCast have the id or short name of a station of Cuewire:\n${lines.join('\n')}\n` +
      'Nothing was changed. Use --on-conflict renumber (the stations of AzuraCast get new ids and short names), ' +
      '--on-conflict skip (they are left out) or --on-conflict replace (the stations of Cuewire are deleted).'
  )
}

/** Adds the conflicts to the report of a dry run, which refuses nothing. */
export function adviseOnConflicts(report: Report, conflicts: readonly Conflict[]): void {
  report.advise('Choose --on-conflict renumber, skip or replace: without it these stations are refused.')
  for (const conflict of conflicts) report.advise(`  ${describeConflict(conflict)}`)
}

/** Deletes the stations of Cuewire that are in the way, with all their records. */
export async function deleteConflicting(
  { sql, report }: Migration,
  conflicts: readonly Conflict[]
): Promise<void> {
  for (const { other } of conflicts) {
    await sql.begin(async tx => {
      await markStationDeleted(tx, other.id)
      await tx`delete from stations where id = ${other.id}`
    })
    report.advise(`The station ${describe(other)} of Cuewire was deleted.`)
  }
}

/** Reads the identity of a station; a short name that is not valid here is replaced. */
export function identify(row: SourceRow, read: Reader): StationIdentity {
  const name = (read.text(row, 'name') ?? '').trim()
  const shortName = read.text(row, 'short_name') ?? ''
  return {
    id: read.number(row, 'id'),
    name,
    shortName: shortNamePattern.test(shortName) ? shortName : makeShortName(shortName || name)
  }
}

const describeConflict = (conflict: Conflict) =>
  `${describe(conflict)}: Cuewire has ${describe(conflict.other)}`

export const describe = ({ id, name, shortName }: StationIdentity) => `${name} (${id}, ${shortName})`
