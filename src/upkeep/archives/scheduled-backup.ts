import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

import type { FileStore } from '../../library/storage/file-store.ts'
import { builtFileUrl } from '../../platform/process/program-files.ts'
import { raiseAlert, resolveAlert } from '../../stores/db/notifications.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { backupFailedAlertKey, recordScheduledBackup } from './missing-backup.ts'

export interface ScheduledBackupDeps {
  readonly sql: Sql
  readonly config: {
    readonly BACKUP_STORAGE: string
    readonly BACKUP_KEEP: number
    readonly DATA_DIR: string
  }
  readonly env: NodeJS.ProcessEnv
  /** Opens a storage location by its id. */
  readonly openFiles: (locationId: number) => Promise<FileStore>
  readonly signal: AbortSignal
}

const runSetting = 'scheduled backup'
const listSetting = 'stored backups'
const nameOf = (at: Date) =>
  `cuewire-${at.toISOString().slice(0, 16).replace(/[-:]/g, '').replace('T', '-')}.tar.gz`
const namePattern = /^cuewire-\d{8}-\d{4}\.tar\.gz$/
const backupMs = 24 * 3_600_000

/**
 * Writes the backup of a time, and removes old ones. Returns its name; null if another process writes it. Raises an
 * alert and rethrows if it fails.
 */
export async function runScheduledBackup(deps: ScheduledBackupDeps, at: Date): Promise<string | null> {
  const { sql } = deps
  const { count } = await sql`
    insert into settings (name, value) values (${runSetting}, ${at.toISOString()})
    on conflict (name) do update set value = excluded.value where settings.value < excluded.value`
  if (count === 0) return null
  try {
    const name = nameOf(at)
    if (isAbsolute(deps.config.BACKUP_STORAGE)) await backUpToFolder(deps, deps.config.BACKUP_STORAGE, name)
    else await backUpToLocation(deps, Number(deps.config.BACKUP_STORAGE), name)
    await resolveAlert(sql, backupFailedAlertKey)
    await recordScheduledBackup(sql)
    return name
  } catch (error) {
    deps.signal.throwIfAborted()
    await raiseAlert(sql, {
      key: backupFailedAlertKey,
      title: 'The scheduled backup failed',
      body: `${error instanceof Error ? error.message : String(error)} (BACKUP_STORAGE ${deps.config.BACKUP_STORAGE})`,
      type: 'danger',
      source: 'storage'
    })
    throw error
  }
}

async function backUpToFolder(deps: ScheduledBackupDeps, folder: string, name: string): Promise<void> {
  await runBackup(deps, join(folder, name))
  const names = (await readdir(folder)).filter(each => namePattern.test(each)).toSorted()
  for (const old of names.slice(0, -deps.config.BACKUP_KEEP)) await rm(join(folder, old), { force: true })
}

async function backUpToLocation(deps: ScheduledBackupDeps, locationId: number, name: string): Promise<void> {
  const { sql, config, openFiles } = deps
  const files = await openFiles(locationId)
  const local = join(resolve(config.DATA_DIR), 'backups', name)
  const path = `backups/${name}`
  try {
    await mkdir(dirname(local), { recursive: true })
    await runBackup(deps, local)
    const { size } = await stat(local)
    await files.makeFolder('backups')
    await files.put(local, path, name)
    const stored = await files.stat(path)
    if (stored?.sizeBytes !== size)
      throw new Error(`the storage location has ${stored?.sizeBytes ?? 0} of ${size} bytes of ${path}`)
  } finally {
    await rm(local, { force: true })
  }
  // Stores cannot list their files, so the names are noted.
  const setting = `${listSetting} ${locationId}`
  const [row] = await sql<{ value: string }[]>`select value from settings where name = ${setting}`
  const known = (row?.value ?? '').split(' ').filter(each => namePattern.test(each))
  const names = [...new Set([...known, name])].toSorted()
  for (const old of names.slice(0, -config.BACKUP_KEEP)) await files.remove(`backups/${old}`)
  const kept = names.slice(-config.BACKUP_KEEP).join(' ')
  await sql`insert into settings (name, value) values (${setting}, ${kept})
    on conflict (name) do update set value = excluded.value`
}

/** In a process of its own, so that songs end on time meanwhile. Throws an error with the reason that it prints. */
function runBackup({ env, signal }: ScheduledBackupDeps, file: string): Promise<void> {
  const program = fileURLToPath(builtFileUrl('src/commands/backup/main.js'))
  return new Promise((done, fail) => {
    execFile(
      process.execPath,
      ['--enable-source-maps', program, 'backup', file],
      { env, signal, timeout: backupMs },
      (error, _, stderr) => {
        if (error === null) done()
        else fail(new Error(stderr.trim().split('\n').at(-1) || error.message, { cause: error }))
      }
    )
  })
}
