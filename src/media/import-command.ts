import { resolve } from 'node:path'
import { WriteStream } from 'node:tty'
import { parseArgs } from 'node:util'

import { parseConfig } from '../config.ts'
import type { Sql } from '../db/sql.ts'
import { insertStation } from '../db/stations.ts'
import { type CommandContext, reportOperatorErrors } from '../embedded/command-context.ts'
import { OperatorError } from '../runtime/errors.ts'
import { openImportDatabase } from './import-database.ts'
import { type ImportCounts, importMedia } from './import.ts'
import { openBar, openLines, type Progress } from './progress.ts'
import { checkPaths, countFound } from './scan.ts'

/**
 * Imports media files. Returns the exit code: 0 if at least one file is in the playlist, 1 if no file was
 * usable or the import failed, 130 if `signal` aborted it.
 */
export function importCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  return reportOperatorErrors(call, 1, async () => runImport(call, signal))
}

async function runImport(
  { args, env, stdout, stderr }: CommandContext,
  signal: AbortSignal
): Promise<number> {
  const request = parseImportArguments([...args])
  if (request === null) {
    stdout.write(help)
    return 0
  }
  const config = parseConfig(env)
  // npm changes into the project folder; the paths are meant from where it was called.
  const absolute = (path: string) => resolve(env['INIT_CWD'] ?? '', path)
  const paths = request.paths.map(absolute)
  const allowed = request.allowed.map(absolute)
  await checkPaths([...paths, ...allowed])

  await using database = await openImportDatabase(config, line => stderr.write(`${line}\n`))
  const { sql } = database
  const stationId = await findOrCreateStation(sql, request.station, request.create)
  const progress = await openProgress(stdout, { paths, allowed }, signal)
  let counts: ImportCounts
  try {
    const { playlist: playlistName } = request
    const onProgress = progress.show
    counts = await importMedia(sql, { stationId, playlistName, paths, allowed, signal, onProgress })
  } finally {
    progress.end()
  }
  stdout.write(`${summary(counts, signal.aborted)}\n`)
  if (signal.aborted) return 130
  return counts.added + counts.updated + counts.unchanged > 0 ? 0 : 1
}

async function openProgress(
  out: NodeJS.WritableStream,
  { paths, allowed }: { readonly paths: string[]; readonly allowed: readonly string[] },
  signal: AbortSignal
): Promise<Progress> {
  if (!(out instanceof WriteStream)) return openLines(out)
  return openBar(out, await countFound(paths, allowed, signal))
}

function summary(
  { found, added, updated, unchanged, skipped }: ImportCounts,
  isInterrupted: boolean
): string {
  const numbers = `${found} found: ${added} added, ${updated} updated, ${unchanged} unchanged, ${skipped} skipped`
  return isInterrupted ? `stopped before the end; ${numbers}` : numbers
}

const shownStations = 20

/**
 * The id of the station an import is for, found by id or short name. It is made when `create` says so or when
 * there is no station at all; else an unknown one is an `OperatorError` that lists the known short names.
 */
async function findOrCreateStation(sql: Sql, name: string, create: boolean): Promise<number> {
  const known = await findStation(sql, name)
  if (known !== null) return known
  const others = await sql<{ short_name: string; total: number }[]>`
    select short_name, count(*) over () as total from stations
      where deleted_at is null order by short_name limit ${shownStations}`
  if (!create && others.length > 0) {
    const names = others.map(row => row.short_name).join(', ')
    const more = (others[0]?.total ?? 0) - others.length
    throw new OperatorError(
      `there is no station ${JSON.stringify(name)}; known: ${names}${more > 0 ? ` and ${more} more` : ''} ` +
        '(--create makes a new one)'
    )
  }
  if (!/^(?=.*[a-z_-])[a-z0-9_-]{1,100}$/.test(name)) {
    throw new OperatorError(
      `${JSON.stringify(name)} cannot be a short name: use a-z, 0-9, _ and -, and not digits alone`
    )
  }
  const id = (await insertStation(sql, { shortName: name, name })) ?? (await findStation(sql, name))
  if (id === null) throw new OperatorError(`the station ${JSON.stringify(name)} went away`)
  return id
}

async function findStation(sql: Sql, name: string): Promise<number | null> {
  const id = /^\d{1,15}$/.test(name) ? Number(name) : null
  const [row] = await sql<{ id: number }[]>`select id from stations where id = ${id} or short_name = ${name}`
  return row?.id ?? null
}

/** What `npm run import` was asked for. */
interface ImportArguments {
  /** Id or short name. */
  station: string
  playlist: string
  create: boolean
  /** Folders beside the paths into which links and playlist entries may lead. */
  allowed: string[]
  paths: string[]
}

const usage =
  'usage: npm run import -- --station STATION --playlist NAME [--create] [--allow FOLDER]... PATH...'

const help = `${usage}

Brings audio files into the library of a station and appends them to a playlist. The same import again only
takes up what is new or changed.

  PATH        an audio file (mp3, ogg, oga, opus, flac, m4a, mp4, wav), a folder (with all below it), or a
              playlist file (m3u, m3u8, pls; it may name web addresses). Playlist files inside a folder are left
              alone, and so is what is hidden.
  --station   id or short name of the station
  --playlist  name of the playlist; it is made if there is none
  --create    make the station if there is none of this short name
  --allow     a folder into which symbolic links and entries of playlist files may lead besides the folders of
              the PATHs; may be repeated. What leads elsewhere is named and skipped
  --help      show this

The database is the one of DATABASE_URL, else that of the Cuewire that runs here, else the one in DATA_DIR.
`

/** Reads the command line; null asks for help. Throws an `OperatorError` of one line with the usage. */
export function parseImportArguments(args: string[]): ImportArguments | null {
  const { values, positionals: paths } = parse(args)
  const { station, playlist, create = false, allow: allowed = [] } = values
  if (values.help) return null
  if (!station) throw misuse('--station is missing')
  if (!playlist?.trim()) throw misuse('--playlist is missing')
  if (playlist.length > 255) throw misuse('--playlist is longer than 255 characters')
  if (paths.length === 0) throw misuse('no PATH is given')
  return { station, playlist: playlist.trim(), create, allowed, paths }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        station: { type: 'string' },
        playlist: { type: 'string' },
        create: { type: 'boolean' },
        allow: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' }
      }
    })
  } catch (error) {
    // The first sentence says it; the rest is advice on escaping.
    throw misuse(error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
}

function misuse(problem: string): OperatorError {
  return new OperatorError(`${problem.replace(/\s+/g, ' ').replace(/\.$/, '')}; ${usage}`)
}
