import { maxPathBytes } from '../../../model/songs/library-path.ts'
import { uniqueIdPattern } from '../../../model/songs/song.ts'
import { findStoredSongs } from '../../../stores/db/library/stored-names.ts'
import { unescapeFormula } from '../../core/csv.ts'
import type { HeavyRead } from '../../core/heavy-reads.ts'
import type { ApiServices } from '../../core/services.ts'
import type { CsvLine } from './csv-reader.ts'
import { type TableRow, tableRowsFragment } from './table-rows.ts'

type Cells = Pick<CsvLine, 'cells'>

/** Finds the songs of lines, by `unique_id` or else `path`. Returns a function from a line to its song. */
export async function indexSongsOfLines(
  { reads: sql }: Pick<ApiServices, 'reads'>,
  read: Pick<HeavyRead, 'rows'>,
  { stationId, lines }: { readonly stationId: number; readonly lines: readonly CsvLine[] }
): Promise<(line: Cells) => TableRow | null> {
  const uniqueIds = lines.map(uniqueIdOf).filter(id => id !== '')
  const paths = lines.map(pathOf).filter(path => path !== '')
  const isNamed = sql`(m.unique_id = any(${uniqueIds}::text[]) or m.path = any(${paths}::text[]))`
  const rows = await read.rows<TableRow>(tableRowsFragment(sql, stationId, isNamed))
  const byUniqueId = new Map(rows.map(row => [row.unique_id, row]))
  const byPath = new Map(rows.map(row => [row.path, row]))
  const find = (line: Cells) => byUniqueId.get(uniqueIdOf(line)) ?? byPath.get(pathOf(line)) ?? null

  const left = lines.filter(line => find(line) === null).map(pathOf)
  // Paths without accents have one form.
  const others = left.filter(path => /[^\p{ASCII}]/u.test(path))
  const songs = [...(await findStoredSongs(sql, stationId, others))]
  if (songs.length === 0) return find
  const ids = songs.map(([, { id }]) => id)
  const stored = await sql<
    TableRow[]
  >`${tableRowsFragment(sql, stationId, sql`m.id = any(${ids}::bigint[])`)}`
  const byId = new Map(stored.map(row => [row.id, row]))
  const byOtherForm = new Map(songs.map(([given, { id }]) => [given, byId.get(id)]))
  return line => find(line) ?? byOtherForm.get(pathOf(line)) ?? null
}

/** The unique id of a line; empty: it has none, or one that no song can have, which is not looked up. */
function uniqueIdOf({ cells }: Cells): string {
  const cell = cells.get('unique_id') ?? ''
  return uniqueIdPattern.test(cell) ? cell : ''
}

/** The path of a line; empty: it has none, or a longer one than any song, which takes long to look up. */
function pathOf({ cells }: Cells): string {
  const cell = cells.get('path') ?? ''
  // The escape is a character.
  if (cell.length > maxPathBytes + 1) return ''
  const path = unescapeFormula(cell)
  return Buffer.byteLength(path) > maxPathBytes ? '' : path
}
