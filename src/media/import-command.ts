import { resolve } from 'node:path'

import { parseConfig } from '../config.ts'
import { OperatorError } from '../errors.ts'
import { help, parseImportArguments } from './import-arguments.ts'
import { openImportDatabase } from './import-database.ts'
import { findOrCreateStation } from './import-station.ts'
import { importMedia, type ImportCounts } from './import.ts'
import { openBar, openLines, type Progress } from './progress.ts'
import { checkPaths, countFound } from './scan.ts'

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

/** Gives the exit code: 0 when anything is in the playlist now, 1 when nothing was usable, 130 when interrupted. */
async function main(): Promise<number> {
  const request = parseImportArguments(process.argv.slice(2))
  if (request === null) {
    process.stdout.write(help)
    return 0
  }
  const config = parseConfig(process.env)
  // npm changes into the project folder; the paths are meant from where it was called.
  const paths = request.paths.map(path => resolve(process.env['INIT_CWD'] ?? '', path))
  await checkPaths(paths)
  const signal = abortOnInterrupt()

  await using database = await openImportDatabase(config)
  const { sql } = database
  const stationId = await findOrCreateStation(sql, request.station, request.create)
  const progress = await openProgress(paths, signal)
  let counts: ImportCounts
  try {
    const { playlist: playlistName } = request
    counts = await importMedia(sql, { stationId, playlistName, paths, signal, onProgress: progress.show })
  } finally {
    progress.end()
  }
  process.stdout.write(`${summary(counts, signal.aborted)}\n`)
  if (signal.aborted) return 130
  return counts.added + counts.updated + counts.unchanged > 0 ? 0 : 1
}

/** The first Ctrl-C ends the import after its batch, one more than a second later ends it at once. */
function abortOnInterrupt(): AbortSignal {
  const abort = new AbortController()
  let firstAt = 0
  const interrupt = () => {
    if (abort.signal.aborted && performance.now() - firstAt > 1_000) process.exit(130)
    if (!abort.signal.aborted) firstAt = performance.now()
    abort.abort()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt)
  // The channel to the script that started this closes when the script ends, even when it is killed.
  process.on('disconnect', interrupt)
  process.channel?.unref()
  return abort.signal
}

async function openProgress(paths: string[], signal: AbortSignal): Promise<Progress> {
  if (!process.stdout.isTTY) return openLines(process.stdout)
  return openBar(process.stdout, await countFound(paths, signal))
}

function summary(
  { found, added, updated, unchanged, skipped }: ImportCounts,
  isInterrupted: boolean
): string {
  const numbers = `${found} found: ${added} added, ${updated} updated, ${unchanged} unchanged, ${skipped} skipped`
  return isInterrupted ? `stopped before the end; ${numbers}` : numbers
}
