import { parseConfig } from '../../config.ts'
import { type CommandContext, reportInterruption } from '../../platform/process/command-context.ts'
import { openCommandLine } from '../../platform/process/command-line.ts'
import { openPhaseProgress } from '../../platform/process/phase-progress.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { readTar } from '../../platform/runtime/tar-files.ts'
import { findDatabaseUrlProblem } from '../../stores/db/connections/database-url.ts'
import type { Sql } from '../../stores/db/sql.ts'
import {
  type BackupManifest,
  backupManifestPath,
  openFilesSummarizer
} from '../../upkeep/archives/archive-contents.ts'
import { openArchiveWriter } from '../../upkeep/archives/archive-writer.ts'
import { dumpTables } from '../../upkeep/archives/dump-tables.ts'
import { assertDatabaseNotInUse } from '../../upkeep/archives/empty-database.ts'
import {
  readBackupHeader,
  readBackupManifest,
  parseTableEntryPath
} from '../../upkeep/archives/read-archive.ts'
import { restoreTables } from '../../upkeep/archives/restore-tables.ts'
import { findCommandStores, withCommandDatabase, withDatabasePool } from '../command-database.ts'
import { copyStatementSeconds } from './backup-command.ts'

const usage = 'usage: npm run move -- --to DATABASE_URL'

const help = `${usage}

Copies the database to an empty one, usually from the embedded Postgres in DATA_DIR to one of your own. Stop Cuewire first.

  --to URL   postgres://user:password@host:port/database
  --help     show this help

The database to copy is that of DATABASE_URL, else the one in DATA_DIR. It is not changed. Files in DATA_DIR and Redis stay in use.
`

const commandLine = openCommandLine(usage, { to: { type: 'string' }, help: { type: 'boolean', short: 'h' } })

/** Moves the database. Returns the exit code: 0 on success, 1 after an error, 130 if `signal` aborted it. */
export function moveCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  const outcome = 'nothing was copied'
  return reportInterruption(call, { signal, outcome }, () => runMove(call, signal))
}

async function runMove(call: CommandContext, signal: AbortSignal): Promise<number> {
  const { values, positionals } = commandLine.parse(call.args)
  if (values.help) {
    call.stdout.write(help)
    return 0
  }
  const { to } = values
  if (to === undefined || positionals.length > 0) throw commandLine.usageError('give --to DATABASE_URL')
  const urlProblem = findDatabaseUrlProblem(to)
  if (urlProblem !== null) throw commandLine.usageError(`--to ${urlProblem}`)
  const config = parseConfig(call.env)
  if (config.DATABASE_URL === undefined && (await findCommandStores(config, call)) !== null)
    throw new OperatorError('Cuewire is running: stop it first, so that nothing is written meanwhile')
  const progress = openPhaseProgress(call.stderr)
  try {
    const pool = { statementSeconds: copyStatementSeconds, migrates: false }
    const manifest = await withCommandDatabase(config, call, { name: 'move', ...pool }, async source =>
      withDatabasePool(to, { name: 'move', ...pool }, target =>
        copyDatabase(source, target, { signal, onRows: progress.rows })
      )
    )
    progress.end()
    const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
    call.stdout.write(
      `Copied ${rows} rows of ${manifest.tables.length} tables without differences.\n` +
        'Set DATABASE_URL to the new database and start Cuewire. The old one was not changed; remove it when everything works.\n'
    )
    return 0
  } finally {
    progress.end()
  }
}

interface CopyOptions {
  readonly signal: AbortSignal
  readonly onRows: (table: string, rows: number, total: number) => void
}

/**
 * Copies a database that nobody writes to an empty one, all or nothing. Throws an `OperatorError` if processes use one
 * of them.
 */
async function copyDatabase(
  source: Sql,
  target: Sql,
  { signal, onRows }: CopyOptions
): Promise<BackupManifest> {
  await source.begin(tx => assertDatabaseNotInUse(tx))
  const files = readTar(async tar => {
    const writer = openArchiveWriter(tar, { isCompressed: false, signal })
    const dumped = await dumpTables(source, writer, { media: 'by reference', signal, onRows })
    const manifest: BackupManifest = { ...dumped, files: openFilesSummarizer().end() }
    await writer.addText(backupManifestPath, JSON.stringify(manifest))
    await writer.finish()
  })
  try {
    const first = await files.next()
    if (first.done) throw new Error('the copy has no header')
    return await restoreTables(
      target,
      await readBackupHeader(first.value),
      async sink => {
        for await (const file of files) {
          const table = parseTableEntryPath(file.path)
          if (table === null) return readBackupManifest(file)
          for await (const piece of file.content) await sink(table, piece)
        }
        throw new Error('the copy is incomplete')
      },
      { ifNotEmpty: 'refuse', resetLiveStates: false, onRows: () => {}, onIndexes: () => {} }
    )
  } finally {
    await files.return(undefined)
  }
}
