import { WriteStream } from 'node:tty'

import { parseConfig } from '../../config.ts'
import { assertPathsReadable, countScannedItems, resolveRootFolders } from '../../library/media/scan.ts'
import { type CommandContext, reportOperatorErrors } from '../../platform/process/command-context.ts'
import { openCommandLine, toAbsolutePath } from '../../platform/process/command-line.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import {
  assertShortName,
  findStationForCommand,
  createUnknownStationError
} from '../../stores/db/named-stations.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { insertStation } from '../../stores/db/stations.ts'
import { databaseHelpText, withCommandDatabase } from '../command-database.ts'
import { openImportStore } from './import-store.ts'
import { importMedia } from './import.ts'
import { openLineProgress, openProgressBar } from './progress.ts'
import { runTakeIn } from './take-in-command.ts'
import { takeInImported } from './take-in.ts'

/**
 * Imports media files. Returns the exit code: 0 if at least one file is in the playlist, 1 if no file was
 * usable or the import failed, 130 if `signal` aborted it.
 */
export function importCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  return reportOperatorErrors(call, 1, () => runImport(call, signal))
}

async function runImport(call: CommandContext, signal: AbortSignal): Promise<number> {
  const { args, env, stdout, stderr } = call
  const request = parseImportArguments(args)
  if (request === null) {
    stdout.write(help)
    return 0
  }
  if (request.isDryRun !== undefined) return runTakeIn(call, request, signal)
  const paths = request.paths.map(path => toAbsolutePath(call, path))
  const allowed = request.allowed.map(path => toAbsolutePath(call, path))
  const config = parseConfig(env)
  await assertPathsReadable([...paths, ...allowed])

  const counts = await withCommandDatabase(
    config,
    { env, stderr },
    { name: 'import' },
    async (sql, dataDir) => {
      const stationId = await getOrCreateStation(sql, request.station, request.create)
      const progress =
        stdout instanceof WriteStream
          ? openProgressBar(stdout, await countScannedItems(paths, allowed, signal))
          : openLineProgress(stdout)
      try {
        const { playlist: playlistName } = request
        const onProgress = progress.show
        const { replacesCorrections = false } = request
        const stored = await openImportStore(sql, { ...config, DATA_DIR: dataDir }, stationId).catch(
          toProblem
        )
        const media = 'problem' in stored ? null : stored
        const imported = await importMedia(sql, {
          stationId,
          playlistName,
          paths,
          allowed,
          replacesCorrections,
          media,
          signal,
          onProgress
        })
        const result =
          'problem' in stored
            ? stored
            : await takeInImported(sql, {
                stationId,
                media: stored,
                roots: await resolveRootFolders(paths, allowed),
                signal,
                onSong: ({ path, reason }) => {
                  if (reason !== undefined) stderr.write(`not copied: ${path}: ${reason}\n`)
                }
              }).catch(toProblem)
        return { ...imported, problem: 'problem' in result ? result.problem : null }
      } finally {
        progress.end()
      }
    }
  )
  if (counts.problem !== null)
    stderr.write(`The files were imported, but stay where they are: ${counts.problem}. ${takeInAdvice}\n`)
  const { found, added, updated, unchanged, skipped } = counts
  const summary = `${found} found: ${added} added, ${updated} updated, ${unchanged} unchanged, ${skipped} skipped`
  stdout.write(`${signal.aborted ? 'interrupted; ' : ''}${summary}\n`)
  if (signal.aborted) return 130
  return added + updated + unchanged > 0 ? 0 : 1
}

const toProblem = (error: unknown) => {
  if (error instanceof OperatorError) return { problem: error.message }
  throw error
}

const takeInAdvice = 'Then run npm run import -- --take-in'

/** Finds a station by id or short name. Creates it if `create` is set or there are no stations. */
async function getOrCreateStation(sql: Sql, name: string, create: boolean): Promise<number> {
  const known = await findStationForCommand(sql, name)
  if (known) return known.id
  const [other] = await sql`select from stations where deleted_at is null limit 1`
  if (!create && other) throw await createUnknownStationError(sql, name, ' (--create makes a new one)')
  assertShortName(name)
  const id =
    (await insertStation(sql, { shortName: name, name })) ?? (await findStationForCommand(sql, name))?.id
  if (id === undefined) throw new OperatorError(`the station ${JSON.stringify(name)} was deleted`)
  return id
}

const usage =
  'usage: npm run import -- --station STATION --playlist NAME [--create] [--read-tags-again] [--allow FOLDER]... PATH...\n' +
  '       npm run import -- --take-in [--dry-run] [--station STATION]'

const help = `${usage}

Imports audio files into the library of a station and appends them to a playlist. Importing again only reads
files that are new or changed. Files that are not in the media storage of the station are copied into it and stay as they are.

  PATH        an audio file (mp3, ogg, oga, opus, flac, m4a, mp4, wav), a folder (with its subfolders), or a
              playlist file (m3u, m3u8, pls; it may contain web addresses). Hidden files, and playlist files
              inside a folder, are ignored.
  --station   id or short name of the station
  --playlist  name of the playlist; created if it does not exist
  --create    create the station if it does not exist
  --read-tags-again
              read all files, also unchanged ones, and replace what was corrected of their songs, except cue points
  --allow     a folder into which symbolic links and playlist entries may lead, besides the folders of the
              PATHs; may be repeated. Files elsewhere are reported and skipped
  --take-in   copy the files of songs that were imported before, but not copied, into the media storage
  --dry-run   with --take-in: say how many there are, and change nothing
  --help      show this help

${databaseHelpText}`

const { parse, usageError } = openCommandLine(usage, {
  station: { type: 'string' },
  playlist: { type: 'string' },
  create: { type: 'boolean' },
  'read-tags-again': { type: 'boolean' },
  allow: { type: 'string', multiple: true },
  'take-in': { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' }
})

/** Parses the command line; null if help is requested. Throws an `OperatorError` with the usage. */
export function parseImportArguments(args: readonly string[]) {
  const { values, positionals: paths } = parse(args)
  const { station, playlist, create = false, allow: allowed = [] } = values
  const readsAgain = values['read-tags-again'] === true ? { replacesCorrections: true } : {}
  if (values.help) return null
  const isDryRun = values['dry-run'] === true
  if (values['take-in']) {
    if (
      paths.length > 0 ||
      playlist !== undefined ||
      create ||
      allowed.length > 0 ||
      values['read-tags-again']
    )
      throw usageError('--take-in goes with --dry-run and --station only')
    return { station, isDryRun }
  }
  if (isDryRun) throw usageError('--dry-run goes with --take-in only')
  if (!station) throw usageError('--station is missing')
  if (!playlist?.trim()) throw usageError('--playlist is missing')
  if (playlist.length > 255) throw usageError('--playlist is longer than 255 characters')
  if (paths.length === 0) throw usageError('no PATH is given')
  return { station, playlist: playlist.trim(), create, allowed, paths, ...readsAgain }
}
