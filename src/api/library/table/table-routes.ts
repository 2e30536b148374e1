import { setImmediate } from 'node:timers/promises'

import type { Reply } from '../../../http/route.ts'
import { maxTagLengths } from '../../../model/songs/song.ts'
import { ApiError, fieldError, refuseField } from '../../../platform/runtime/errors.ts'
import { openEventLoopYield } from '../../../platform/runtime/time-slices.ts'
import { renderCsvLine, renderCsvReply } from '../../core/csv.ts'
import {
  actionResultFields,
  type ApiRequest,
  type ApiRoute,
  apiRoute,
  jsonReply,
  getRequestStation
} from '../../core/route.ts'
import {
  actionResultSchema,
  arrayOf,
  boolean,
  exactObject,
  int64,
  namedSchema,
  string
} from '../../core/schemas.ts'
import type { ApiServices } from '../../core/services.ts'
import { fileOperations } from '../files.ts'
import { type ReceivedFile, withReceivedFile } from '../uploads/received-file.ts'
import {
  type TableContext,
  type CellChange,
  type ComparedLine,
  compareLine,
  findMissingCell,
  isUnchangedLine,
  type RowChange,
  toSongUpdate
} from './compare-line.ts'
import { type CsvFile, type CsvLine, openCsvFile } from './csv-reader.ts'
import { describeLineProblems, findLineProblems } from './line-problems.ts'
import { type TablePlaylist, openPlaylistCells, type PlaylistCellFormat } from './playlist-cells.ts'
import { indexSongsOfLines } from './songs-of-lines.ts'
import {
  renderTableCells,
  tableColumns,
  type TableRow,
  maxTableSongs,
  tableRowsFragment
} from './table-rows.ts'

/*
 * The songs of a station as a CSV file, which is edited with a spreadsheet and uploaded again. Lines without changes
 * cost nothing, so the whole file can be sent back.
 */

const path = '/api/station/:station_id/files/bulk'
const access = 'manage station media'
const tag = 'Files'
const maxBytes = 50 * 1024 * 1024
const csvOptions = {
  required: ['unique_id', 'path'],
  // Spreadsheets leave empty lines behind.
  maxLines: 2 * maxTableSongs,
  maxColumns: 1_000,
  maxLineBytes: 256 * 1024
}
/** To estimate the number of songs of a file. */
const bytesPerSong = 250
/** Each change is a transaction, and the response waits for all of them. */
const maxChanges = 500
/** How long lines are compared before it yields to the event loop. */
const sliceMs = 8

const readShortNames = async ({ reads: sql }: ApiServices) =>
  (await sql<{ name: string }[]>`select short_name as name from custom_fields order by id`).map(
    ({ name }) => name
  )

async function openContext(
  { reads: sql }: ApiServices,
  stationId: number,
  format: PlaylistCellFormat
): Promise<Pick<TableContext, 'playlistCells'>> {
  const playlists = await sql<TablePlaylist[]>`
    select id, name, source = 'songs' as "takesSongs" from playlists where station_id = ${stationId}`
  return { playlistCells: openPlaylistCells(playlists, format) }
}

async function sendTable(
  request: ApiRequest,
  services: ApiServices,
  format: PlaylistCellFormat
): Promise<Reply> {
  const { reads: sql, heavyReads } = services
  const { id, shortName } = getRequestStation(request)
  const shortNames = await readShortNames(services)
  const { playlistCells } = await openContext(services, id, format)
  const columns = tableColumns(shortNames)
  return heavyReads.run(request, { isLight: false, rows: maxTableSongs }, async read => {
    const parts = [Buffer.from(renderCsvLine(columns))]
    for await (const rows of read.batches<TableRow>(tableRowsFragment(sql, id, sql`true`))) {
      const lines = rows.map(row => {
        const cells = renderTableCells(row, shortNames, playlistCells)
        return renderCsvLine(columns.map(name => cells.get(name) ?? ''))
      })
      parts.push(Buffer.from(lines.join('')))
    }
    return renderCsvReply(`${shortName}_all_media`, Buffer.concat(parts))
  })
}

interface ChangedSong {
  readonly row: TableRow
  /** The line of the file, counted from 1. */
  readonly line: number
  readonly change: RowChange
  /** Why the line cannot be applied; empty if it can. */
  readonly problem: string
  /** The body of the write. */
  readonly update: object
}

interface Changes {
  readonly changed: readonly ChangedSong[]
  /** Lines of no song, counted from 1. */
  readonly strangers: readonly number[]
  /** Lines with cells that a spreadsheet has made of the stored values, which remain. */
  readonly kept: readonly string[]
}

/** Finds the songs of a file, by `unique_id` or else `path`, and what changes. Throws 400 for a file that is none. */
async function computeChanges(
  request: ApiRequest,
  services: ApiServices,
  { path: filePath, sizeBytes, charset }: ReceivedFile,
  format: PlaylistCellFormat
): Promise<Changes> {
  const { id: stationId } = getRequestStation(request)
  const shortNames = await readShortNames(services)
  const { playlistCells } = await openContext(services, stationId, format)
  await using file = await openCsvFile(filePath, { ...csvOptions, charset })
  const known = new Set(tableColumns(shortNames))
  const unknown = file.columns.filter(name => name !== '' && !known.has(name))
  request.stream?.nameIgnored(unknown.slice(0, 20).map(encodeURIComponent).join(', '))
  const context = { shortNames, playlistCells, isCommaFile: file.separator === ',' }
  const rows = Math.min(maxTableSongs, Math.ceil(sizeBytes / bytesPerSong))
  // Awaited, because the file is closed at the return.
  return await services.heavyReads.run(request, { isLight: false, rows }, async read => {
    const changed: ChangedSong[] = []
    const strangers: number[] = []
    const kept: string[] = []
    const pause = openEventLoopYield(sliceMs)
    const lineOf = new Map<number, number>()
    for await (const lines of file.batches()) {
      const find = await indexSongsOfLines(services, read, { stationId, lines })
      for (const { line, cells } of lines) {
        await pause()
        const row = find({ cells })
        if (!row) {
          strangers.push(line)
          continue
        }
        const compared = compareLine(row, cells, context)
        if (compared.kept.length > 0)
          kept.push(`${line} (${compared.kept.slice(0, maxNamedColumns).join(', ')})`)
        const before = lineOf.get(row.id) ?? null
        const song = checkLine(row, { line, cells }, { file, context, compared, before })
        lineOf.set(row.id, line)
        if (song !== null) changed.push(song)
        if (changed.length > maxChanges)
          refuseField('file', 'too_long', `must change at most ${maxChanges} songs at once (line ${line}).`)
      }
    }
    return { changed, strangers, kept }
  })
}

interface LineContext {
  readonly file: CsvFile
  readonly context: TableContext
  readonly compared: ComparedLine
  /** An earlier line of the same song. */
  readonly before: number | null
}

/** Returns what a line changes; null: nothing. */
function checkLine(
  row: TableRow,
  { line, cells }: CsvLine,
  { file, context, compared, before }: LineContext
): ChangedSong | null {
  const { change, problems } = compared
  const missing = findMissingCell(row, cells, file.columns, context)
  if (isUnchangedLine(change) && problems.length === 0 && missing === null) return null
  const structure = [
    ...(missing === null ? [] : [fieldError(missing, 'required', 'is missing: the line is cut off.')]),
    ...(before === null ? [] : [fieldError('path', 'not_unique', `is of the same song as line ${before}.`)])
  ]
  const update = toSongUpdate(compared)
  const damaged = new Set(problems.map(({ field }) => field))
  const invalid = findLineProblems(row, update).filter(({ field }) => !damaged.has(field))
  return {
    row,
    line,
    change,
    problem: describeLineProblems(line, [...structure, ...problems, ...invalid]),
    update
  }
}

const maxNamedLines = 20
const maxNamedColumns = 5

/** Names the lines that nothing is done for, and those with cells that are ignored. */
const describeIgnored = ({ strangers, kept }: Changes) =>
  describeLines(strangers, 'of the lines are of no song of the station') +
  describeLines(kept, 'of the lines have cells that a spreadsheet reformatted, which are ignored')

function describeLines(lines: readonly (number | string)[], what: string): string {
  if (lines.length === 0) return ''
  const shown = lines.slice(0, maxNamedLines).join(', ')
  const others = lines.length > maxNamedLines ? ', ...' : ''
  return ` ${lines.length} ${what}: ${shown}${others}.`
}

const nullableText = { ...string, type: ['string', 'null'] }
const cell = exactObject({ field: string, current: string, new: string })

const body = { type: 'string', format: 'binary' }
const query = {
  charset: { type: 'string', description: 'The charset of a file that is not UTF-8: `windows-1251`.' }
}
const songFields = { id: int64, title: string, artist: string }

const bulkPreviewSchema = namedSchema(
  'BulkPreview',
  'What the rows of a table would change.',
  actionResultSchema({
    previewResults: arrayOf(
      exactObject({
        ...songFields,
        has_changes: boolean,
        changes: exactObject({
          metadata: arrayOf(cell),
          extra_metadata: arrayOf(cell),
          custom_fields: arrayOf(cell),
          playlists: exactObject({ added: arrayOf(string), removed: arrayOf(string) })
        }),
        error: nullableText
      })
    ),
    totalChanges: int64
  })
)

const bulkImportSchema = namedSchema(
  'BulkImport',
  'What the rows of a table changed.',
  actionResultSchema({
    import_results: arrayOf(exactObject({ ...songFields, success: boolean, error: nullableText }))
  })
)

/** The routes of the table, whose cells with playlists have this format. */
export function openFileTableRoutes(format: PlaylistCellFormat): readonly ApiRoute[] {
  const withChanges = (
    request: ApiRequest,
    services: ApiServices,
    reply: (changes: Changes) => Reply | Promise<Reply>
  ) =>
    withReceivedFile(request, services, maxBytes, async file =>
      reply(await computeChanges(request, services, file, format))
    )
  return [
    apiRoute('GET', path, access, {
      id: 'downloadFileTable',
      tag,
      summary: `The songs of the station with their metadata as a CSV file, at most ${maxTableSongs}`,
      response: { type: 'string' },
      contentTypes: ['text/csv'],
      handle: (request, services) => sendTable(request, services, format)
    }),
    apiRoute('POST', path, access, {
      id: 'uploadFileTable',
      tag,
      summary: `Change songs as a CSV file says (a form with \`file\`, or the file), at most ${maxChanges} of them at once`,
      body,
      query,
      response: bulkImportSchema,
      errors: [413],
      isStreamed: true,
      headers: ['content-type'],
      handle: (request, services) =>
        withChanges(request, services, changes => applyBulkChanges(request, services, changes))
    }),
    apiRoute('POST', `${path}/preview`, access, {
      id: 'previewFileTable',
      tag,
      summary: 'What the upload of a CSV file would change',
      body,
      query,
      response: bulkPreviewSchema,
      errors: [413],
      isStreamed: true,
      headers: ['content-type'],
      handle: (request, services) => withChanges(request, services, renderPreview)
    })
  ]
}

async function renderPreview(changes: Changes): Promise<Reply> {
  const { changed } = changes
  const refused = changed.filter(({ problem }) => problem !== '').map(({ line }) => line)
  const count = changed.length - refused.length
  const problems = describeLines(refused, 'of the lines have problems')
  const results: string[] = []
  for (const { row, change, problem } of changed) {
    // Lyrics of many songs are megabytes.
    if (results.length % songsPerSlice === 0) await setImmediate()
    const { id, title, artist } = row
    const changedCells = {
      metadata: change.metadata.map(truncateCells),
      extra_metadata: change.extra_metadata.map(truncateCells),
      custom_fields: change.custom_fields.map(truncateCells),
      playlists: change.playlists
    }
    const error = problem === '' ? null : problem
    results.push(JSON.stringify({ id, title, artist, has_changes: true, changes: changedCells, error }))
  }
  const action = actionResultFields(`${count} files will be modified.${problems}${describeIgnored(changes)}`)
  const [start] = JSON.stringify(action).split(/}$/)
  return { body: `${start},"previewResults":[${results.join(',')}],"totalChanges":${count}}` }
}

const songsPerSlice = 20

/** Longer texts are refused, and not shown whole. */
const truncateCells = ({ field, current, new: fresh }: CellChange): CellChange => ({
  field,
  current: current.slice(0, 2 * maxTagLengths.lyrics),
  new: fresh.slice(0, 2 * maxTagLengths.lyrics)
})

async function applyBulkChanges(
  request: ApiRequest,
  services: ApiServices,
  changes: Changes
): Promise<Reply> {
  const { changed } = changes
  const results = []
  for (const song of changed) {
    const { id, title, artist } = song.row
    const error = song.problem || (await applyChange(request, services, song))
    results.push({ id, title, artist, success: error === '', error: error === '' ? null : error })
  }
  const count = results.filter(({ success }) => success).length
  return jsonReply({
    ...actionResultFields(`${count} files processed.${describeIgnored(changes)}`),
    import_results: results
  })
}

/** Changes a song. Returns the problem; empty if there is none. */
async function applyChange(
  request: ApiRequest,
  services: ApiServices,
  { row, line, update }: ChangedSong
): Promise<string> {
  try {
    await fileOperations.update({ ...request, stream: null, body: update }, services, row.id)
    return ''
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return `Line ${line}: ${error.message}`
    throw error
  }
}

export const fileTableRoutes = openFileTableRoutes({ usesCommas: false })
