import { resolve } from 'node:path'

import { parseConfig } from '../../config.ts'
import { allowedStorageRoots } from '../../library/storage/location-record.ts'
import { normalizeStoragePath } from '../../library/storage/location.ts'
import { type CommandContext, reportInterruption } from '../../platform/process/command-context.ts'
import { openCommandLine, toAbsolutePath } from '../../platform/process/command-line.ts'
import { openPhaseProgress } from '../../platform/process/phase-progress.ts'
import { openDatabaseSecrets } from '../../stores/secrets/secrets-key.ts'
import { databaseHelpText, withCommandDatabase } from '../command-database.ts'
import { openApiSource } from './api-source.ts'
import { openAzuracastBackup } from './azuracast-backup.ts'
import { openDumpSource } from './dump-source.ts'
import { openMariadbSource } from './mariadb-source.ts'
import { migrateInstallation } from './migrate-installation.ts'
import { type ConflictRule, conflictRules, type AzuracastMigration } from './migration.ts'
import type { AzuracastSource } from './source.ts'

/**
 * Takes over an installation of AzuraCast. Returns the exit code: 0 on success, 1 if nothing could be taken or an error
 * ended it, 130 if `signal` aborted it.
 */
export function migrateFromAzuracastCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  const outcome = 'run the same command again to continue'
  return reportInterruption(call, { signal, outcome }, () => runMigration(call, signal))
}

async function runMigration(call: CommandContext, signal: AbortSignal): Promise<number> {
  const { args, env, stdout, stderr } = call
  const request = parseAzuracastArguments(args)
  if (request === null) {
    stdout.write(help)
    return 0
  }
  const toAbsolute = (path: string) => toAbsolutePath(call, path)
  const config = parseConfig(env)
  const progress = openPhaseProgress(stderr)
  try {
    await using opened = await openSource(request, toAbsolute, progress, signal)
    const { source, files } = opened
    const report = await withCommandDatabase(
      config,
      { env, stderr },
      { name: 'migration', statementSeconds: 300 },
      async (sql, dataDir) => {
        const secrets = await openDatabaseSecrets(sql, { ...config, DATA_DIR: dataDir })
        const { onConflict, isDryRun, copyMediaTo } = request
        return migrateInstallation(sql, secrets, {
          source,
          files,
          isDryRun,
          onConflict,
          copyMediaTo: copyMediaTo === null ? null : toAbsolute(copyMediaTo),
          dataDir,
          storageRoots: allowedStorageRoots({ ...config, DATA_DIR: dataDir }),
          signal,
          onRows: countRows(source, progress)
        })
      }
    )
    progress.end()
    stdout.write(report.render(request.isDryRun))
    if (!request.isDryRun) stdout.write(report.added() === 0 ? '\nNothing was new.\n' : '')
    return 0
  } finally {
    progress.end()
  }
}

/** A table may be read several times: its rows are counted from the start again. */
function countRows(
  source: AzuracastSource,
  progress: ReturnType<typeof openPhaseProgress>
): AzuracastMigration['onRows'] {
  const counts = new Map<string, number>()
  return (table, rows) => {
    const total = source.tables.get(table)?.rows ?? 0
    const before = counts.get(table) ?? 0
    const read = before >= total ? rows : before + rows
    counts.set(table, read)
    progress.rows(table, read, total)
  }
}

type MigrationRequest = NonNullable<ReturnType<typeof parseAzuracastArguments>>

interface OpenedSource extends AsyncDisposable {
  readonly source: AzuracastSource
  readonly files: AzuracastMigration['files']
}

const noFiles: AzuracastMigration['files'] = { hasFiles: false, forEachFile: async () => {} }

async function openSource(
  { backup, mariadbUrl, apiUrl, apiKey }: MigrationRequest,
  toAbsolute: (path: string) => string,
  progress: ReturnType<typeof openPhaseProgress>,
  signal: AbortSignal
): Promise<OpenedSource> {
  if (mariadbUrl !== null) {
    const opened = await openMariadbSource(mariadbUrl, signal)
    return {
      source: opened.source,
      files: noFiles,
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]()
    }
  }
  if (apiUrl !== null) {
    progress.share('reading the API', 0)
    const source = await openApiSource(apiUrl, apiKey ?? '', signal)
    return { source, files: noFiles, [Symbol.asyncDispose]: async () => {} }
  }
  const path = toAbsolute(backup ?? '')
  const files = await openAzuracastBackup(path, signal, share => progress.share('reading the backup', share))
  try {
    const onProgress = (share: number) => progress.share('checking the database', share)
    const source = await openDumpSource(files.dumpFile, { description: path, signal, onProgress })
    return { source, files, [Symbol.asyncDispose]: () => files[Symbol.asyncDispose]() }
  } catch (error) {
    await files[Symbol.asyncDispose]()
    throw error
  }
}

const usage =
  'usage: npm run migrate-from-azuracast -- [OPTIONS] (BACKUP | --mariadb URL | --api URL --key KEY)'

const help = `${usage}

Takes over an installation of AzuraCast: stations, media, playlists, users, API keys, history and more, with their ids.
Can be repeated: what was taken is not changed again, and an interrupted run continues.

  BACKUP          a backup of AzuraCast (.zip, .tgz, .tzst), or the database dump in it (.sql)
  --mariadb URL   the database of AzuraCast, mysql://user:password@host:port/azuracast; nothing is written to it
  --api URL       a running AzuraCast, read with its REST API and the key --key of an administrator. The API does not
                  show passwords, keys and some other data
  --dry-run       change nothing; print what would be taken and what would not
  --copy-media DIR
                  copy media files of local storage to DIR, from the backup or this machine. Without it they stay where
                  they are
  --on-conflict refuse|renumber|skip|replace
                  if a station of Cuewire has the id or short name of one of AzuraCast: change nothing (the default), give
                  the station of AzuraCast a new id and short name, leave it out, or delete that of Cuewire
  --help          show this help

${databaseHelpText}`

const { parse, usageError } = openCommandLine(usage, {
  mariadb: { type: 'string' },
  api: { type: 'string' },
  key: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'copy-media': { type: 'string' },
  'on-conflict': { type: 'string' },
  help: { type: 'boolean', short: 'h' }
})

/** Parses the command line; null if help is requested. Throws an `OperatorError` with the usage. */
export function parseAzuracastArguments(args: readonly string[]) {
  const { values, positionals } = parse(args)
  if (values.help) return null
  const { mariadb: mariadbUrl = null, api: apiUrl = null, key: apiKey = null } = values
  const [backup = null, ...others] = positionals
  if ([backup, mariadbUrl, apiUrl].filter(source => source !== null).length !== 1 || others.length > 0)
    throw usageError('give one BACKUP, or --mariadb, or --api')
  if ((apiUrl === null) !== (apiKey === null)) throw usageError('--api and --key belong together')
  if (mariadbUrl !== null && !isUrl(mariadbUrl, ['mysql:', 'mariadb:']))
    throw usageError('--mariadb must be like mysql://user:password@host:3306/azuracast')
  if (apiUrl !== null && !isUrl(apiUrl, ['http:', 'https:'])) throw usageError('--api must be a web address')
  const copyMediaTo = values['copy-media'] ?? null
  if (copyMediaTo !== null && normalizeStoragePath('local', resolve('/', copyMediaTo)) === null)
    throw usageError('--copy-media must be the path of a folder')
  return {
    backup,
    mariadbUrl,
    apiUrl,
    apiKey,
    isDryRun: values['dry-run'] ?? false,
    copyMediaTo,
    onConflict: parseConflictRule(values['on-conflict'] ?? 'refuse')
  }
}

function parseConflictRule(text: string): ConflictRule {
  const rule = conflictRules.find(each => each === text)
  if (!rule) throw usageError(`--on-conflict must be one of ${conflictRules.join(', ')}`)
  return rule
}

function isUrl(text: string, protocols: readonly string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol)
}
