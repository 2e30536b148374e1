import { readFile } from 'node:fs/promises'

import { parse } from 'csv-parse/sync'

import { findStoredSongs } from '../../db/stored-names.ts'
import { ApiError, fieldError } from '../../runtime/errors.ts'
import { nameKey } from '../../runtime/name-key.ts'
import { csvLine, csvReply } from '../core/csv.ts'
import { refuseField } from '../core/parse.ts'
import { actionFields, type ApiRequest, apiRoute, json, type Reply, stationOf } from '../core/route.ts'
import { actionSchema, arrayOf, boolean, exactly, int64, ref, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { describeLine, findUpdateProblems } from './bulk-problems.ts'
import {
  bulkCells,
  bulkColumns,
  type BulkRow,
  compareLine,
  isUnchanged,
  maxBulkSongs,
  type RowChange,
  selectBulkRows,
  toUpdate
} from './bulk-rows.ts'
import { updateRow } from './files.ts'
import { withReceivedFile } from './uploads/received-file.ts'

/*
 * The songs of a station as a CSV file, which is edited with a spreadsheet and uploaded again. Lines without changes cost
 * nothing, so the whole file can be sent back.
 */

const path = '/api/station/:station_id/files/bulk'
const access = 'manage station media'
const tag = 'Files'
const maxBytes = 50 * 1024 * 1024
/** Each change is a transaction, and the response waits for all of them. */
const maxChanges = 500

const readShortNames = async ({ reads: sql }: ApiServices) =>
  (await sql<{ name: string }[]>`select short_name as name from custom_fields order by id`).map(
    ({ name }) => name
  )

const download = apiRoute('GET', path, access, {
  id: 'downloadFileTable',
  tag,
  summary: `The songs of the station with their metadata as a CSV file, at most ${maxBulkSongs}`,
  answer: { type: 'string' },
  contentTypes: ['text/csv'],
  async handle(request, services) {
    const { reads: sql, heavyReads } = services
    const { id, shortName } = stationOf(request)
    const shortNames = await readShortNames(services)
    const columns = bulkColumns(shortNames)
    return heavyReads.run(request, { isLight: false, rows: maxBulkSongs }, async read => {
      const parts = [Buffer.from(csvLine(columns))]
      for await (const rows of read.batches<BulkRow>(selectBulkRows(sql, id, sql`true`))) {
        const lines = rows.map(row => {
          const cells = bulkCells(row, shortNames)
          return csvLine(columns.map(name => cells.get(name) ?? ''))
        })
        parts.push(Buffer.from(lines.join('')))
      }
      return csvReply(`${shortName}_all_media`, Buffer.concat(parts))
    })
  }
})

type Line = Readonly<Record<string, string>>

/** Parses a file with a line of names. Throws 400 with the line of the problem. */
function parseFile(bytes: Buffer): Line[] {
  try {
    const lines: Line[] = parse(bytes, {
      bom: true,
      columns: header => header.map((name: string) => name.trim()),
      skip_empty_lines: true
    })
    const [first = {}] = lines
    if (!('unique_id' in first || 'path' in first))
      refuseField(
        'file',
        'invalid_format',
        'must have a first line of names, separated by commas, with unique_id or path.'
      )
    if (lines.length > maxBulkSongs)
      refuseField('file', 'too_long', `must have at most ${maxBulkSongs} lines.`)
    return lines
  } catch (error) {
    if (error instanceof ApiError || !(error instanceof Error)) throw error
    return refuseField('file', 'invalid_format', `is not a valid CSV file: ${error.message}.`)
  }
}

interface ChangedSong {
  readonly row: BulkRow
  /** Counted from 1, with that of the names. */
  readonly line: number
  readonly change: RowChange
  /** Why the line cannot be applied; empty if it can. */
  readonly problem: string
  /** The body of the write. */
  readonly update: object
}

interface Changes {
  readonly changed: readonly ChangedSong[]
  /** Lines of no song, counted from 1, with that of the names. */
  readonly strangers: readonly number[]
}

/** Finds the songs of a file, by `unique_id` or else `path`, and what changes. */
async function findChanges(
  request: ApiRequest,
  services: ApiServices,
  lines: readonly Line[]
): Promise<Changes> {
  const { reads: sql, heavyReads } = services
  const { id: stationId } = stationOf(request)
  const shortNames = await readShortNames(services)
  const known = new Set(bulkColumns(shortNames))
  const unknown = Object.keys(lines[0] ?? {}).filter(name => !known.has(name))
  request.stream?.nameIgnored(unknown.slice(0, 20).map(encodeURIComponent).join(', '))
  const [rows, playlists] = await heavyReads.run(
    request,
    { isLight: false, rows: lines.length },
    async read => [
      await read.rows<BulkRow>(
        selectBulkRows(
          sql,
          stationId,
          sql`(m.unique_id = any(${lines.map(line => line['unique_id'] ?? '')}::text[])
            or m.path = any(${lines.map(line => line['path'] ?? '')}::text[]))`
        )
      ),
      await read.rows<{ id: number; name: string; source: string }>(
        sql`select id, name, source from playlists where station_id = ${stationId} order by id desc`
      )
    ]
  )
  const byUniqueId = new Map(rows.map(row => [row.unique_id, row]))
  const byPath = new Map(rows.map(row => [row.path, row]))
  const left = lines.filter(
    line => !byUniqueId.has(line['unique_id'] ?? '') && !byPath.has(line['path'] ?? '')
  )
  const inOtherForm = await findStoredSongs(
    sql,
    stationId,
    left.map(line => line['path'] ?? '')
  )
  const ids = [...inOtherForm.values()].map(({ id }) => id)
  const others =
    ids.length === 0
      ? []
      : await sql<BulkRow[]>`${selectBulkRows(sql, stationId, sql`m.id = any(${ids}::bigint[])`)}`
  const byStoredPath = new Map(others.map(row => [row.path, row]))
  for (const [given, song] of inOtherForm) {
    const row = byStoredPath.get(song.path)
    if (row) byPath.set(given, row)
  }
  // Of two playlists with a name, the older one; the exact name comes first.
  const ofSongs = playlists.filter(({ source }) => source === 'songs')
  const idOf = new Map([
    ...ofSongs.map(({ id, name }) => [nameKey(name), id] as const),
    ...ofSongs.map(({ id, name }) => [name, id] as const)
  ])
  const findId = (name: string) => idOf.get(name) ?? idOf.get(nameKey(name))
  const strangers: number[] = []
  const found = lines.flatMap((line, index): ChangedSong[] => {
    const row = byUniqueId.get(line['unique_id'] ?? '') ?? byPath.get(line['path'] ?? '')
    if (!row) {
      strangers.push(index + 2)
      return []
    }
    const change = compareLine(row, line, shortNames)
    const { added, removed } = change.playlists
    const missing = added
      .filter(name => findId(name) === undefined)
      .map(name => fieldError('playlists', 'not_found', `"${name}" is not a playlist of songs.`))
    const names = [...row.playlists.filter(name => !removed.includes(name)), ...added]
    const playlistIds = added.length + removed.length === 0 ? null : names.flatMap(name => findId(name) ?? [])
    const update = toUpdate(change, playlistIds)
    const problem = describeLine(index + 2, [...missing, ...findUpdateProblems(row, update)])
    return [{ row, line: index + 2, change, problem, update }]
  })
  const changed = found.filter(({ change }) => !isUnchanged(change))
  if (changed.length > maxChanges)
    refuseField('file', 'too_long', `must change at most ${maxChanges} songs at once, not ${changed.length}.`)
  return { changed, strangers }
}

const maxNamedLines = 20

/** Names the lines that nothing is done for. */
const describeStrangers = ({ strangers }: Changes) =>
  describeLines(strangers, 'of the lines are of no song of the station')

function describeLines(lines: readonly number[], what: string): string {
  if (lines.length === 0) return ''
  const named = lines.slice(0, maxNamedLines).join(', ')
  const others = lines.length > maxNamedLines ? ', ...' : ''
  return ` ${lines.length} ${what}: ${named}${others}.`
}

const nullableText = { ...string, type: ['string', 'null'] }
const cell = exactly({ field: string, current: string, new: string })

const body = { type: 'string', format: 'binary' }
const songFields = { id: int64, title: string, artist: string }

export const bulkPreviewSchema = actionSchema({
  previewResults: arrayOf(
    exactly({
      ...songFields,
      has_changes: boolean,
      changes: exactly({
        metadata: arrayOf(cell),
        extra_metadata: arrayOf(cell),
        custom_fields: arrayOf(cell),
        playlists: exactly({ added: arrayOf(string), removed: arrayOf(string) })
      }),
      error: nullableText
    })
  ),
  totalChanges: int64
})

export const bulkImportSchema = actionSchema({
  import_results: arrayOf(exactly({ ...songFields, success: boolean, error: nullableText }))
})

const upload = apiRoute('POST', path, access, {
  id: 'uploadFileTable',
  tag,
  summary: `Change songs as a CSV file says (a form with \`file\`, or the file), at most ${maxChanges} of them at once`,
  body,
  answer: ref('BulkImport'),
  errors: [413],
  isStreamed: true,
  headers: ['content-type'],
  handle: (request, services) =>
    withChanges(request, services, changes => applyChanges(request, services, changes))
})

const preview = apiRoute('POST', `${path}/preview`, access, {
  id: 'previewFileTable',
  tag,
  summary: 'What the upload of a CSV file would change',
  body,
  answer: ref('BulkPreview'),
  errors: [413],
  isStreamed: true,
  headers: ['content-type'],
  handle: (request, services) => withChanges(request, services, renderPreview)
})

const withChanges = (
  request: ApiRequest,
  services: ApiServices,
  reply: (changes: Changes) => Reply | Promise<Reply>
) =>
  withReceivedFile(request, services, maxBytes, async file =>
    reply(await findChanges(request, services, parseFile(await readFile(file.path))))
  )

function renderPreview(changes: Changes): Reply {
  const { changed } = changes
  const refused = changed.filter(({ problem }) => problem !== '').map(({ line }) => line)
  const count = changed.length - refused.length
  const problems = describeLines(refused, 'of the lines have problems')
  return json({
    ...actionFields(`${count} files will be modified.${problems}${describeStrangers(changes)}`),
    previewResults: changed.map(({ row: { id, title, artist }, change, problem }) => ({
      id,
      title,
      artist,
      has_changes: true,
      changes: change,
      error: problem === '' ? null : problem
    })),
    totalChanges: count
  })
}

async function applyChanges(request: ApiRequest, services: ApiServices, changes: Changes): Promise<Reply> {
  const { changed } = changes
  const results = []
  for (const song of changed) {
    const { id, title, artist } = song.row
    const error = song.problem || (await applyChange(request, services, song))
    results.push({ id, title, artist, success: error === '', error: error === '' ? null : error })
  }
  const count = results.filter(({ success }) => success).length
  return json({
    ...actionFields(`${count} files processed.${describeStrangers(changes)}`),
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
    await updateRow({ ...request, stream: null, body: update }, services, row.id)
    return ''
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return `Line ${line}: ${error.message}`
    throw error
  }
}

export const bulkFileRoutes = [download, upload, preview]
