import { createReadStream } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

import type { ArchivedFile } from './azuracast-backup.ts'
import { type MigratedStation, type AzuracastMigration, readSourceRows } from './migration.ts'

/** Stations by the storage location of their media, in the order of their ids in AzuraCast. */
export function groupStationsByLocation({
  stations
}: Pick<AzuracastMigration, 'stations'>): Map<number, MigratedStation[]> {
  const byLocation = new Map<number, MigratedStation[]>()
  for (const station of [...stations.values()].toSorted((a, b) => a.sourceId - b.sourceId))
    byLocation.set(station.mediaLocation, [...(byLocation.get(station.mediaLocation) ?? []), station])
  return byLocation
}

/** The folder of a local storage location with the media of stations. */
export interface LocalMediaFolder {
  /** The id of the location in AzuraCast. */
  readonly location: number
  /** Where it is in AzuraCast. */
  readonly folder: string
  readonly stationIds: readonly number[]
  /** Whether a file of it was found. */
  isFound: boolean
}

export async function readLocalMediaFolders(migration: AzuracastMigration): Promise<LocalMediaFolder[]> {
  const byLocation = groupStationsByLocation(migration)
  const folders: LocalMediaFolder[] = []
  for await (const { row, read } of readSourceRows(migration, 'storage_location')) {
    const location = read.number(row, 'id')
    const stationIds = byLocation.get(location)?.map(({ id }) => id) ?? []
    const folder = (read.text(row, 'path') ?? '').replace(/\/+$/, '')
    if (read.text(row, 'adapter') === 'local' && stationIds.length > 0)
      folders.push({ location, folder, stationIds, isFound: false })
  }
  return folders
}

/**
 * Calls `use` for the files of the folders, with the path in the folder: those in the backup, and those on this machine
 * of folders that the backup does not contain.
 */
export async function forEachMediaFile(
  { files, signal }: AzuracastMigration,
  folders: readonly LocalMediaFolder[],
  use: (folder: LocalMediaFolder, path: string, file: ArchivedFile) => Promise<void>
): Promise<void> {
  if (files.hasFiles)
    await files.forEachFile(async file => {
      signal.throwIfAborted()
      const path = `/${file.path}`
      const found = folders.find(({ folder }) => path.startsWith(`${folder}/`))
      if (!found) return
      found.isFound = true
      await use(found, path.slice(found.folder.length + 1), file)
    })
  for (const missing of folders.filter(({ isFound }) => !isFound))
    for await (const file of walkFolder(missing.folder)) {
      signal.throwIfAborted()
      missing.isFound = true
      await use(missing, file.path, file)
    }
}

async function* walkFolder(top: string, folder = top): AsyncGenerator<ArchivedFile> {
  const entries = await opendir(folder).catch(() => null)
  if (entries === null) return
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walkFolder(top, path)
    else if (entry.isFile()) {
      const { size } = await stat(path)
      yield { path: relative(top, path), size, open: async () => createReadStream(path) }
    }
  }
}
