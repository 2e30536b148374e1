import { access, constants, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'

import { withDeadline } from '../../platform/runtime/deadline.ts'
import { errorCodeOf } from '../../platform/runtime/errors.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { resolveAllowedMediaFolder } from './media-folder.ts'

const fileSystemMs = 5_000

interface BackupSettings {
  readonly BACKUP_STORAGE?: string | undefined
  readonly STORAGE_ROOTS: readonly string[]
  readonly DATA_DIR: string
}

/**
 * Returns why scheduled backups cannot be written to BACKUP_STORAGE; null if nothing is known against it. Does not
 * connect to remote storage. `sql` null: Postgres is not available, so that storage locations are not checked.
 */
export async function findBackupStorageProblem(
  sql: Sql | null,
  config: BackupSettings
): Promise<string | null> {
  const { BACKUP_STORAGE: storage } = config
  if (storage === undefined) return null
  if (isAbsolute(storage)) return findFolderProblem(storage)
  if (sql === null) return null
  const [location] = await sql<{ adapter: string; path: string }[]>`
    select adapter, path from storage_locations where id = ${Number(storage)}`
  if (!location) return 'there is no storage location with this id'
  if (location.adapter === 'dropbox') return 'backups cannot be written to Dropbox'
  if (location.adapter !== 'local') return null
  const folder = await resolveAllowedMediaFolder(location.path, config)
  return folder === null ? `${location.path} is outside of STORAGE_ROOTS` : findFolderProblem(folder)
}

async function findFolderProblem(folder: string): Promise<string | null> {
  try {
    const isFolder = await withDeadline(fileSystemMs, `reading ${folder}`, async () => {
      await access(folder, constants.W_OK | constants.X_OK)
      return (await stat(folder)).isDirectory()
    })
    return isFolder ? null : `${folder} is not a folder`
  } catch (error) {
    return errorCodeOf(error) === 'ENOENT'
      ? `the folder ${folder} does not exist`
      : `the folder ${folder} is not writable (${errorCodeOf(error) || describeError(error)})`
  }
}
