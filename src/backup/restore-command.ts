import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { withCommandDatabase } from '../command-database.ts'
import { type Config, parseConfig } from '../config.ts'
import type { Sql } from '../db/sql.ts'
import { checkRedis } from '../redis/check-redis.ts'
import { type CommandContext, reportOperatorErrors } from '../runtime/command-context.ts'
import { openCommandLine, toAbsolutePath } from '../runtime/command-line.ts'
import { OperatorError } from '../runtime/errors.ts'
import { openPhaseProgress } from '../runtime/phase-progress.ts'
import { isKeyOfDatabase, readSecretsKey } from '../security/secrets-key.ts'
import { allowedRoots } from '../storage/record.ts'
import { copySeconds } from './backup-command.ts'
import { forgetEmbeddedLiveStates, forgetLiveStates } from './forget-live-states.ts'
import { installKey, readKeyFile } from './keep-secrets-key.ts'
import { verifyArchive } from './read-archive.ts'
import { restoreBackup } from './restore-backup.ts'
import { assertCanRestore } from './restore-tables.ts'

const usage = 'usage: npm run restore -- [OPTIONS] FILE'

const help = `${usage}

Restores a backup into an empty database, after it has read all of it. Stop all processes of Cuewire first. If the backup
is of an older release, the database is migrated to this one.

  --replace            delete everything in the database first
  --secrets-key FILE   the file that the backup's --secrets-key wrote; becomes DATA_DIR/secrets-key
  --help               show this help

The database is that of DATABASE_URL, else the one in DATA_DIR. Cuewire's keys in the Redis of REDIS_URL, or in that of
DATA_DIR, are removed: the workers write the live state again.
`

const commandLine = openCommandLine(usage, {
  replace: { type: 'boolean' },
  'secrets-key': { type: 'string' },
  help: { type: 'boolean', short: 'h' }
})

/** Restores a backup. Returns the exit code: 0 on success, 1 after an error, 130 if `signal` aborted it. */
export function restoreCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  return reportOperatorErrors(call, 1, async () => {
    try {
      return await runRestore(call, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      call.stderr.write(
        'interrupted: the database is restored completely or not at all, but files may be missing; repeat the command with --replace\n'
      )
      return 130
    }
  })
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
  const key = keyFile === undefined ? null : await readKeyFile(toAbsolutePath(call, keyFile))
  const config = parseConfig(call.env)
  if (config.REDIS_URL !== undefined) await checkRedis(config.REDIS_URL)
  const progress = openPhaseProgress(call.stderr)
  try {
    const contents = await verifyArchive(archive, {
      signal,
      onProgress: share => progress.share('reading the backup', share)
    })
    await assertCanRestore(contents.header)
    const rows = new Map(contents.manifest.tables.map(table => [table.name, table.rows]))
    const pool = { name: 'restore', statementSeconds: copySeconds, migrates: false }
    await withCommandDatabase(config, call, pool, async (sql, dataDir) => {
      const files = await restoreBackup(sql, archive, contents, {
        ifNotEmpty: replace ? 'replace' : 'refuse, suggest --replace',
        dataDir,
        roots: allowedRoots({ ...config, DATA_DIR: dataDir }),
        signal,
        onRows: (table, count) => progress.rows(table, count, rows.get(table) ?? count),
        onIndexes: () => progress.share('building indexes', 0),
        onFiles: count => progress.share(`files (${count})`, count / contents.manifest.files.count)
      })
      if (key !== null) await installKey(key, { ...config, DATA_DIR: dataDir })
      progress.end()
      const { manifest, header } = contents
      const total = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
      call.stdout.write(
        `Restored ${total} rows of ${manifest.tables.length} tables and ${files.restored} files, as they were at ${header.createdAt}.\n`
      )
      if (files.kept > 0) call.stdout.write(`${files.kept} media files were there already.\n`)
      for (const path of files.refused.slice(0, maxListed))
        call.stdout.write(`not restored, because it is outside of STORAGE_ROOTS: ${path}\n`)
      if (files.refused.length > maxListed)
        call.stdout.write(`and ${files.refused.length - maxListed} more files\n`)
      if (header.media === 'by reference')
        call.stdout.write(
          'Songs and recordings are not in this backup: restore them to their folders yourself.\n'
        )
      await reportKey(call, sql, { ...config, DATA_DIR: dataDir })
      call.stdout.write(await resetRedis(config, dataDir))
    })
    return 0
  } finally {
    progress.end()
  }
}

const maxListed = 20

async function reportKey({ stdout }: CommandContext, sql: Sql, config: Config): Promise<void> {
  const key = await readSecretsKey(config.DATA_DIR, config.SECRETS_KEY)
  if (key !== null && (await isKeyOfDatabase(sql, key))) return
  stdout.write(
    'The stored credentials cannot be decrypted with the key here, and servers will not start: set SECRETS_KEY to the key of the ' +
      `backed-up installation, or copy its file to ${join(resolve(config.DATA_DIR), 'secrets-key')}.\n`
  )
}

/** Removes the live states of the former database from Redis. Returns what to tell the operator. */
async function resetRedis({ REDIS_URL: redisUrl, DATABASE_URL: databaseUrl }: Config, dataDir: string) {
  if (redisUrl !== undefined) {
    await forgetLiveStates(redisUrl).catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error)
      throw new OperatorError(
        `the database is restored, but Redis still has keys of the former one (${problem}): remove its data before you start Cuewire`,
        { cause: error }
      )
    })
    return 'Redis is empty; the workers write the live state again when they start.\n'
  }
  if (databaseUrl === undefined || existsSync(join(resolve(dataDir), 'redis'))) {
    await forgetEmbeddedLiveStates(dataDir)
    return ''
  }
  return 'REDIS_URL is not set: if processes use a Redis with this database, remove its data before you start them.\n'
}
