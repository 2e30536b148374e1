import { parseConfig } from '../../config.ts'
import { formatSize } from '../../library/storage/size.ts'
import { type CommandContext, reportInterruption } from '../../platform/process/command-context.ts'
import { openCommandLine, toAbsolutePath } from '../../platform/process/command-line.ts'
import { openPhaseProgress } from '../../platform/process/phase-progress.ts'
import { readVerifiedSecretsKey, saveSecretsKey } from '../../upkeep/archives/keep-secrets-key.ts'
import type { ArchiveResult } from '../../upkeep/archives/write-archive.ts'
import { writeBackup } from '../../upkeep/archives/write-backup.ts'
import { withCommandDatabase } from '../command-database.ts'

/** A statement may copy a table of many gigabytes. */
export const copyStatementSeconds = 24 * 3_600

const usage = 'usage: npm run backup -- [OPTIONS] FILE'

const help = `${usage}

Writes a backup of the database and of the files of stations to FILE (.tar.gz), while Cuewire runs, and reads it back.
It holds the state of one moment.

  --media              include songs and recordings in DATA_DIR, local storage locations and imported folders. Without it
                       they are only named in the database: back them up yourself. Those in S3, SFTP and Dropbox are
                       never included
  --secrets-key FILE   also write the key that decrypts stored credentials to a file of its own. It is never in the backup;
                       without it, these credentials have to be entered again after a restore. Keep it elsewhere. If the
                       file has this key already, it stays
  --help               show this help

The database is that of DATABASE_URL, else that of the Cuewire that runs with DATA_DIR, else that of the only one
that runs on this machine, else the one in DATA_DIR.
`

const commandLine = openCommandLine(usage, {
  media: { type: 'boolean' },
  'secrets-key': { type: 'string' },
  help: { type: 'boolean', short: 'h' }
})

/** Writes a backup. Returns the exit code: 0 on success, 1 after an error, 130 if `signal` aborted it. */
export function backupCommand(call: CommandContext, signal: AbortSignal): Promise<number> {
  const outcome = 'no backup was written'
  return reportInterruption(call, { signal, outcome }, () => runBackup(call, signal))
}

async function runBackup(call: CommandContext, signal: AbortSignal): Promise<number> {
  const { values, positionals } = commandLine.parse(call.args)
  if (values.help) {
    call.stdout.write(help)
    return 0
  }
  const [file, ...others] = positionals
  if (file === undefined || others.length > 0) throw commandLine.usageError('give one FILE')
  const { media = false, 'secrets-key': keyFile } = values
  const archive = toAbsolutePath(call, file)
  const config = parseConfig(call.env)
  const progress = openPhaseProgress(call.stderr)
  try {
    const pool = { name: 'backup', statementSeconds: copyStatementSeconds, migrates: false }
    const result = await withCommandDatabase(config, call, pool, async (sql, dataDir) => {
      if (keyFile !== undefined)
        await saveSecretsKey(
          toAbsolutePath(call, keyFile),
          await readVerifiedSecretsKey(sql, { ...config, DATA_DIR: dataDir })
        )
      return writeBackup(sql, archive, {
        dataDir,
        media,
        signal,
        onRows: progress.rows,
        onFiles: files => progress.share(`files (${files})`, 0),
        onCheck: share => progress.share('reading the backup', share)
      })
    })
    progress.end()
    call.stdout.write(renderResult(archive, result, keyFile))
    return 0
  } finally {
    progress.end()
  }
}

const maxListed = 20

function renderResult(
  archive: string,
  { header, manifest, bytes, unreadable }: ArchiveResult,
  keyFile: string | undefined
): string {
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0)
  const lines = [
    `${archive}: ${formatSize(BigInt(bytes))}, ${rows} rows of ${manifest.tables.length} tables, ${manifest.files.count} files ` +
      `(${formatSize(BigInt(manifest.files.bytes))}); read back without differences.`,
    `Version ${header.version}, schema ${header.migrations.at(-1) ?? 'none'}. Media: ${header.media}.`,
    keyFile === undefined
      ? 'The secrets key is not in it: keep SECRETS_KEY or DATA_DIR/secrets-key elsewhere (--secrets-key FILE writes a copy).'
      : `The secrets key is in ${keyFile} and not in the backup: keep the two apart.`,
    ...unreadable.slice(0, maxListed).map(path => `not readable, and not in it: ${path}`)
  ]
  if (unreadable.length > maxListed) lines.push(`and ${unreadable.length - maxListed} more files`)
  return `${lines.join('\n')}\n`
}
