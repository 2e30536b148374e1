import { defaultStationFolder, findMediaFolder } from '../../library/storage/media-folder.ts'
import { findStationForCommand, createUnknownStationError } from '../../stores/db/named-stations.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import {
  type BackupManifest,
  backupManifestPath,
  openFilesSummarizer,
  type TableSummary
} from '../../upkeep/archives/archive-contents.ts'
import { type FileToBackUp, findFilesBelow } from '../../upkeep/archives/data-files.ts'
import {
  dumpTable,
  runInSnapshot,
  readTablesToDump,
  writeBackupHeader
} from '../../upkeep/archives/dump-tables.ts'
import { type ArchiveResult, writeArchive } from '../../upkeep/archives/write-archive.ts'
import {
  columnNamesOf,
  exportedPathSql,
  isOutsideSql,
  type ExportedTable,
  stationTables
} from './station-tables.ts'

export interface StationExportOptions {
  /** The id or short name. */
  readonly station: string
  readonly dataDir: string
  readonly media: boolean
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number, total: number) => void
  readonly onCheck: (share: number) => void
}

/** Writes one station to a file, without credentials. Throws an `OperatorError` if it does not exist. */
export async function exportStation(
  sql: Sql,
  archive: string,
  { station: name, dataDir, media, signal, onRows, onCheck }: StationExportOptions
): Promise<ArchiveResult> {
  const station = await findStationForCommand(sql, name)
  if (!station) throw await createUnknownStationError(sql, name)
  return writeArchive(archive, { signal, onCheck }, async writer => {
    const { tables, songs, outside } = await runInSnapshot(sql, async tx => {
      const known = new Map((await readTablesToDump(tx)).map(table => [table.name, table.columns]))
      const folder = await findMediaFolder(tx, station.id, dataDir)
      const place = { stationId: station.id, folder: folder === null ? '' : `${folder}/` }
      const exported = stationTables.map(table => toExport(table, known.get(table.name) ?? [], place))
      await writeBackupHeader(tx, writer, {
        kind: 'station',
        station,
        tables: exported,
        media: media ? 'included' : 'by reference'
      })
      const summaries: TableSummary[] = []
      for (const table of exported) {
        signal.throwIfAborted()
        summaries.push(await dumpTable(tx, writer, table, rows => onRows(table.name, rows, rows)))
      }
      return {
        tables: summaries,
        songs: folder,
        outside: media ? await findOutside(tx, place) : []
      }
    })
    const summary = openFilesSummarizer()
    const unreadable: string[] = []
    const add = async ({ path, file }: FileToBackUp) => {
      signal.throwIfAborted()
      summary.begin()
      const size = await writer.addFile(path, file, chunk => summary.add(chunk))
      if (size === null) unreadable.push(file)
      else summary.endFile(path, size)
    }
    const folders: [string, string | null][] = [
      ['config', defaultStationFolder(station.id, dataDir, 'config')],
      ['media', media ? songs : null]
    ]
    for (const [kind, from] of folders)
      for await (const found of findFilesBelow(from, `data/${kind}`)) await add(found)
    for (const found of outside) await add(found)
    const manifest: BackupManifest = { tables, sequences: [], files: summary.end() }
    await writer.addText(backupManifestPath, JSON.stringify(manifest, null, 2))
    return unreadable
  })
}

interface ExportPlace {
  readonly stationId: number
  /** The folder of the songs, with a slash at its end; empty if it is not on this machine. */
  readonly folder: string
}

/** Finds the songs that were imported from other folders, with their paths in the archive. */
async function findOutside(tx: Tx, place: ExportPlace): Promise<FileToBackUp[]> {
  const query = `
    select t.path as file, 'data/media/' || ${exportedPathSql} as path from media t
    where t.station_id = $ID and ${isOutsideSql('t')} order by t.path`
  return tx.unsafe<FileToBackUp[]>(fillIn(query, place))
}

function toExport(table: ExportedTable, columns: readonly string[], place: ExportPlace) {
  const exported = columnNamesOf(table)
  const kept = columns.filter(column => exported.includes(column))
  const selected = kept.map(column => `${table.exportedAs?.[column] ?? `t."${column}"`} as "${column}"`)
  const query = `select ${selected.join(', ')} from "${table.name}" t where ${table.where}`
  return { name: table.name, columns: kept, query: fillIn(query, place) }
}

const fillIn = (query: string, { stationId, folder }: ExportPlace) =>
  query.replaceAll('$ID', String(stationId)).replaceAll('$FOLDER', () => quoteText(folder))

const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`
