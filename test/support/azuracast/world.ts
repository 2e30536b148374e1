import type { DumpRows, DumpValue } from './dump.ts'
import { generateInstallation, type InstallationSizes, playRow } from './installation.ts'

/** A row of a table, or what AzuraCast's answer adds to it. */
export type Row = Readonly<Record<string, unknown>>

/**
 * The rows of a generated installation, by what refers to them. Plays are generated when they are needed: there may be
 * millions.
 */
export interface World {
  readonly sizes: InstallationSizes
  readonly stations: readonly number[]
  readonly rows: (table: string) => readonly Row[]
  /** The rows of a table with this value in a column. */
  readonly find: (table: string, column: string, value: unknown) => readonly Row[]
  readonly play: (id: number) => Row
}

/** Variables of a program that removes none of the rows, which are old. */
export const keepsAll = { REQUEST_RETENTION_DAYS: '0', LISTENER_RETENTION_DAYS: '0' }

export function openWorld(sizes: InstallationSizes): World {
  const tables = new Map<string, readonly Row[]>()
  const indexes = new Map<string, ReadonlyMap<unknown, readonly Row[]>>()
  const rows = (table: string) => getOrAdd(tables, table, () => readTable(generateInstallation(sizes), table))
  return {
    sizes,
    stations: Array.from({ length: sizes.stations }, (_, index) => index + 1),
    rows,
    find: (table, column, value) =>
      getOrAdd(indexes, `${table}.${column}`, () => groupBy(rows(table), column)).get(value) ?? [],
    play: id => playRow(id, sizes)
  }
}

function readTable(installation: DumpRows, table: string): readonly Readonly<Record<string, DumpValue>>[] {
  return [...(installation[table] ?? [])]
}

function groupBy(rows: readonly Row[], column: string): ReadonlyMap<unknown, readonly Row[]> {
  const groups = new Map<unknown, Row[]>()
  for (const row of rows) getOrAdd(groups, row[column], () => []).push(row)
  return groups
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
