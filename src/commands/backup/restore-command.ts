import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { type Config, parseConfig } from '../../config.ts'
import { allowedStorageRoots } from '../../library/storage/location-record.ts'
import { type CommandContext, reportInterruption } from '../../platform/process/command-context.ts'
import { openCommandLine, toAbsolutePath } from '../../platform/process/command-line.ts'
import { assertDataDirIsWritable } from '../../platform/process/create-data-dir.ts'
import { openPhaseProgress } from '../../platform/process/phase-progress.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { resolveRedisPlace } from '../../stores/redis/check-redis.ts'
import { opensSecretsCheck, readSecretsKey } from '../../stores/secrets/secrets-key.ts'
import type { RestoredFiles } from '../../upkeep/archives/data-files.ts'
import { removeEmbeddedLiveStates, removeLiveStates } from '../../upkeep/archives/forget-live-states.ts'
import {
  assertNoOtherSecretsKey,
  readSavedSecretsKey,
  stageSecretsKey
} from '../../upkeep/archives/keep-secrets-key.ts'
import { type ArchiveContents, verifyArchive } from '../../upkeep/archives/read-archive.ts'
import { restoreBackup } from '../../upkeep/archives/restore-backup.ts'
import { assertCanRestore } from '../../upkeep/archives/restore-tables.ts'
import { withCommandDatabase } from '../command-database.ts'
import { copyStatementSeconds } from './backup-command.ts'

const usage = 'usage: npm run restore -- [OPTIONS] FILE'

const help = `${usage}

Restores a backup into an empty database, after it has read all of it. Stop all processes of Cuewire first. If the backup
is of an older release, the database is migrated to this one.

  --replace            delete everything in the database first
  --secrets-key FILE   the file that the backup's --secrets-key wrote; becomes DATA_DIR/secrets-key
  --help               show this help

Exits with 0 if everything is restored, with 1 if the database was not changed, and with 2 if the database is restored, but
files or the secrets key are missing.

The database is that of DATABASE_URL, else the one in DATA_DIR. Cuewire's keys in the Redis of REDIS_URL, or in that of
DATA_DIR, are removed: the workers write the live state again.
`

const commandLine = openCommandLine(usage, {
  replace: { type: 'boolean' },
  'secrets-key': { type: 'string' },
  help: { type: 'boolean', short: 'h' }
})

/**
 * Restores a backup. Returns the exit code: 0 on success, 1 after an error before the database was changed, 2 if the
 * database is restored but something is missing, 130 if `signal` aborted it.
 */
export function restoreCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  const outcome =
    'the database is restored completely or not at all, but files may be missing; repeat the command with --replace'
  return reportInterruption(call, { signal, outcome }, () => runRestore(call, signal))
}

async function runRestore(call: CommandContext, signal: AbortSignal): Promise<number> {
  const { values, positionals } = commandLine.parse(call.args)
  if (values.help) {
    call.stdout.write(help)
    return 0
  }
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw commandLine.usageError('give one FILE')
  const archive = toAbsolutePath(call, file)
  const { replace = false, 'secrets-key': keyFile } = values
  const key = keyFile === undefined ? null : await readSavedSecretsKey(toAbsolutePath(call, keyFile))
  const config = parseConfig(call.env)
  if (key !== null) assertNoOtherSecretsKey(key, config)
  if (config.REDIS_URL !== undefined) await resolveRedisPlace(config.REDIS_URL)
  const progress = openPhaseProgress(call.stderr)
  try {
    const contents = await verifyArchive(archive, {
      signal,
      onProgress: share => progress.share('reading the backup', share)
    })
    await assertCanRestore(contents.header)
    if (key !== null && !opensSecretsCheck(key, contents.secretsCheck))
      throw new OperatorError(
        `${keyFile} does not have the key of this backup: give the file that its --secrets-key wrote; if the key is lost, leave out the option`
      )
    const pool = { name: 'restore', statementSeconds: copyStatementSeconds, migrates: false }
    return await withCommandDatabase(config, call, pool, (sql, dataDir) =>
      restoreTo(
        sql,
        { ...config, DATA_DIR: dataDir },
        { archive, contents, replace, key, call, progress, signal }
      )
    )
  } finally {
    progress.end()
  }
}

interface Restore {
  readonly archive: string
  readonly contents: ArchiveContents
  readonly replace: boolean
  /** The key of --secrets-key. */
  readonly key: string | null
  readonly call: CommandContext
  readonly progress: ReturnType<typeof openPhaseProgress>
  readonly signal: AbortSignal
}

async function restoreTo(
  sql: Sql,
  config: Config,
  { archive, contents, replace, key, call, progress, signal }: Restore
): Promise<number> {
  const { DATA_DIR: dataDir } = config
  await assertDataDirIsWritable(dataDir)
  const hasKey = key !== null || (await hasKeyOf(contents, config))
  await using staged = key === null ? null : await stageSecretsKey(key, config)
  const rows = new Map(contents.manifest.tables.map(table => [table.name, table.rows]))
  let isCommitted = false
  try {
    const files = await restoreBackup(sql, archive, contents, {
      ifNotEmpty: replace ? 'replace' : 'refuse, suggest --replace',
      dataDir,
      roots: allowedStorageRoots(config),
      signal,
      onRows: (table, count) => progress.rows(table, count, rows.get(table) ?? count),
      onIndexes: () => progress.share('building indexes', 0),
      onCommit: async () => {
        isCommitted = true
        await staged?.install()
      },
      onFiles: count => progress.share(`files (${count})`, count / contents.manifest.files.count)
    })
    progress.end()
    reportRestored(call, contents, files)
    if (!hasKey) call.stdout.write(missingKey(config))
    call.stdout.write(await resetRedis(config, dataDir))
    return files.refused.length > 0 || !hasKey ? 2 : 0
  } catch (error) {
    if (!isCommitted || signal.aborted || !(error instanceof OperatorError)) throw error
    progress.end()
    call.stderr.write(
      `the database is restored, but not everything else: ${error.message}; solve this, and repeat the command with --replace\n`
    )
    return 2
  }
}

const maxListed = 20

function reportRestored(
  { stdout }: CommandContext,
  { manifest, header }: ArchiveContents,
  files: RestoredFiles
): void {
  const total = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  stdout.write(
    `Restored ${total} rows of ${manifest.tables.length} tables and ${files.restored} files, as they were at ${header.createdAt}.\n`
  )
  if (files.kept > 0) stdout.write(`${files.kept} media files were there already.\n`)
  for (const path of files.refused.slice(0, maxListed))
    stdout.write(`not restored, because it is outside of STORAGE_ROOTS: ${path}\n`)
  if (files.refused.length > maxListed) stdout.write(`and ${files.refused.length - maxListed} more files\n`)
  if (files.refused.length > 0)
    stdout.write(
      'To restore these files, add their folders to STORAGE_ROOTS, and repeat the command with --replace.\n'
    )
  if (header.media === 'by reference')
    stdout.write('Songs and recordings are not in this backup: restore them to their folders yourself.\n')
}

/**
 * Whether the key here opens the stored credentials of a backup. Throws an `OperatorError` if what is here is not a
 * key.
 */
async function hasKeyOf({ secretsCheck }: ArchiveContents, config: Config): Promise<boolean> {
  const key = await readSecretsKey(config.DATA_DIR, config.SECRETS_KEY)
  return secretsCheck === null || (key !== null && opensSecretsCheck(key, secretsCheck))
}

const missingKey = ({ DATA_DIR }: Config) =>
  'The stored credentials cannot be decrypted with the key here, and servers will not start: set SECRETS_KEY to the key of the ' +
  `backed-up installation, or copy its file to ${join(resolve(DATA_DIR), 'secrets-key')}. If the key is lost, run npm run forget-credentials.\n`

/** Removes the live states of the former database from Redis. Returns a message for the operator. */
async function resetRedis({ REDIS_URL: redisUrl, DATABASE_URL: databaseUrl }: Config, dataDir: string) {
  if (redisUrl !== undefined) {
    await removeLiveStates(redisUrl).catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error)
      throw new OperatorError(`Redis still has keys of the former database (${problem})`, { cause: error })
    })
    return 'Redis is empty; the workers write the live state again when they start.\n'
  }
  if (databaseUrl === undefined || existsSync(join(resolve(dataDir), 'redis'))) {
    await removeEmbeddedLiveStates(dataDir)
    return ''
  }
  return 'REDIS_URL is not set: if processes use a Redis with this database, remove its data before you start them.\n'
}
