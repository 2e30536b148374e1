import { resolve } from 'node:path'
import { WriteStream } from 'node:tty'

import { type CommandContext, reportOperatorErrors } from '../command-context.ts'
import { parseConfig } from '../config.ts'
import { help, parseImportArguments } from './import-arguments.ts'
import { openImportDatabase } from './import-database.ts'
import { findOrCreateStation } from './import-station.ts'
import { importMedia, type ImportCounts } from './import.ts'
import { openBar, openLines, type Progress } from './progress.ts'
import { checkPaths, countFound } from './scan.ts'

/**
 * Imports media files. Returns the exit code: 0 if at least one file is in the playlist, 1 if no file was usable or the import
 * failed, 130 if `signal` aborted it.
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
