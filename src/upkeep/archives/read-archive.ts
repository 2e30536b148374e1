import { createGunzip } from 'node:zlib'

import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { forEachTarFile, type TarFile } from '../../platform/runtime/tar-files.ts'
import { secretsCheckName } from '../../stores/secrets/secrets-key.ts'
import {
  backupFormat,
  type BackupHeader,
  type BackupManifest,
  backupHeaderPath,
  backupManifestPath,
  openFilesSummarizer,
  openTableSummarizer,
  parseBackupHeader,
  parseBackupManifest,
  backupTableFolder
} from './archive-contents.ts'
import { findArchivePathProblem } from './data-files.ts'

const maxTextBytes = 64 * 1024 * 1024

/** What an archive contains. */
export interface ArchiveContents {
  readonly header: BackupHeader
  readonly manifest: BackupManifest
  /** The sealed text that only the secrets key of the installation opens; null if it never sealed anything. */
  readonly secretsCheck: string | null
}

export interface ReadArchiveOptions {
  readonly signal: AbortSignal
  readonly onProgress?: ((share: number) => void) | undefined
}

/**
 * Reads a whole backup and compares everything with its manifest. Throws an `OperatorError` if it is damaged,
 * incomplete, or of a newer release.
 */
export async function verifyArchive(
  archive: string,
  { signal, onProgress }: ReadArchiveOptions
): Promise<ArchiveContents> {
  const found: { header?: BackupHeader; manifest?: BackupManifest } = {}
  const check = openCheck()
  await readArchiveFiles(archive, { signal, onProgress }, async file => {
    if (!found.header) found.header = await readBackupHeader(file)
    else if (found.manifest) throw new Error(`${file.path} follows the manifest`)
    else if (file.path === backupManifestPath) found.manifest = await readBackupManifest(file)
    else await check.add(file, found.header.kind)
  })
  const { header, manifest } = found
  if (!header || !manifest)
    throw new OperatorError(
      `${archive} is incomplete: its end is missing, as after an interrupted backup or copy`
    )
  const problem = check.findProblem(header, manifest)
  if (problem !== null) throw new OperatorError(`${archive} is damaged: ${problem}`)
  return { header, manifest, secretsCheck: check.findSecretsCheck(header) }
}

/** Reads the files of an archive. Errors of the archive become `OperatorError`s. */
export async function readArchiveFiles(
  archive: string,
  { signal, onProgress }: ReadArchiveOptions,
  visit: (file: TarFile) => Promise<void | 'stop'>
): Promise<void> {
  try {
    const options = { signal, onProgress, decompressor: createGunzip(), onOther: refuseOther }
    await forEachTarFile(archive, options, visit)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof OperatorError) throw error
    const code = errorCodeOf(error)
    const isUnreadable = ['ENOENT', 'EACCES', 'EISDIR', 'EPERM'].includes(code)
    throw new OperatorError(
      isUnreadable
        ? `${archive} cannot be read (${code})`
        : `${archive} is damaged: ${describeDamage(error)}`,
      { cause: error }
    )
  }
}

function refuseOther(path: string): never {
  throw new Error(`${path} is a link or a device`)
}

function describeDamage(error: unknown): string {
  const problem = error instanceof Error ? error.message : String(error)
  if (problem.startsWith('incorrect header check')) return 'it is not compressed with gzip'
  return problem.startsWith('Invalid tar header') ? 'it is not a tar archive, or was changed' : problem
}

/** Reads `backup.json`. Throws an `OperatorError` if the archive is not a backup, or of a newer format. */
export async function readBackupHeader(file: TarFile): Promise<BackupHeader> {
  if (file.path !== backupHeaderPath) throw new OperatorError('the archive is not a backup of Cuewire')
  const header = parseBackupHeader(await readText(file))
  if (header.format > backupFormat)
    throw new OperatorError(
      `the backup was written by Cuewire ${header.version} in a newer format: restore it with that release`
    )
  return header
}

export const readBackupManifest = async (file: TarFile): Promise<BackupManifest> =>
  parseBackupManifest(await readText(file))

async function readText({ path, size, content }: TarFile): Promise<string> {
  if (size > maxTextBytes) throw new Error(`${path} is too large`)
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns the table of an entry `tables/NAME/NUMBER`; null for other files. */
export function parseTableEntryPath(path: string): string | null {
  const [folder, table = '', ...rest] = path.split('/')
  return folder === backupTableFolder && rest.length === 1 ? table : null
}

function openCheck() {
  const tables = new Map<string, ReturnType<typeof openTableSummarizer>>()
  const files = openFilesSummarizer()
  const settings: Buffer[] = []
  let settingsBytes = 0
  return {
    async add(file: TarFile, kind: BackupHeader['kind']): Promise<void> {
      const table = parseTableEntryPath(file.path)
      if (table !== null) {
        const summary = tables.get(table) ?? openTableSummarizer(table)
        tables.set(table, summary)
        for await (const chunk of file.content) {
          summary.add(chunk)
          if (table !== 'settings') continue
          settings.push(chunk)
          if ((settingsBytes += chunk.length) > maxTextBytes) throw new Error('its settings are too large')
        }
        return
      }
      const problem = findArchivePathProblem(file.path, kind)
      if (problem !== null) throw new Error(`${JSON.stringify(file.path)} ${problem}`)
      files.begin()
      for await (const chunk of file.content) files.add(chunk)
      files.endFile(file.path, file.size)
    },
    findSecretsCheck({ tables: all }: BackupHeader): string | null {
      const columns = all.find(({ name }) => name === 'settings')?.columns ?? []
      // Neither the name nor the sealed text has characters that COPY escapes.
      const rows = Buffer.concat(settings)
        .toString('utf8')
        .split('\n')
        .map(line => line.split('\t'))
      const row = rows.find(values => values[columns.indexOf('name')] === secretsCheckName)
      return row?.[columns.indexOf('value')] ?? null
    },
    findProblem(header: BackupHeader, manifest: BackupManifest): string | null {
      const names = new Set(header.tables.map(({ name }) => name))
      if (manifest.tables.length !== names.size || manifest.tables.some(({ name }) => !names.has(name)))
        return 'its header and its manifest name different tables'
      for (const expected of manifest.tables) {
        const found = (tables.get(expected.name) ?? openTableSummarizer(expected.name)).end()
        tables.delete(expected.name)
        if (found.sha256 !== expected.sha256 || found.rows !== expected.rows)
          return `the table ${expected.name} has ${found.rows} of ${expected.rows} rows or other content`
      }
      const [other] = tables.keys()
      if (other !== undefined) return `it has rows of the table ${other}, which its manifest does not name`
      return files.end().sha256 === manifest.files.sha256 ? null : 'its files differ from its manifest'
    }
  }
}
