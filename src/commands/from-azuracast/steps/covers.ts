import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { detectImageType } from '../../../model/songs/image-type.ts'
import { createCover, storeCovers } from '../../../stores/db/library/media-rows.ts'
import type { ArchivedFile } from '../azuracast-backup.ts'
import {
  forEachMediaFile,
  type LocalMediaFolder,
  readLocalMediaFolders,
  groupStationsByLocation
} from '../media-folders.ts'
import { type AzuracastMigration, readStepProgress, readSourceRows, storeStepProgress } from '../migration.ts'
import { isInHiddenFolder } from './copy-media.ts'

const step = 'covers'
const maxCoverBytes = 5 * 1024 * 1024

interface FoundFiles {
  covers: number
  /** Keys of covers by location and name of the folder. */
  readonly folderCovers: Map<string, string>
  /** Sizes by location and path. */
  readonly sizes: Map<number, Map<string, number>>
}

/**
 * Takes the covers of songs and the sizes of files. AzuraCast stores covers in hidden folders beside the media, by the
 * `unique_id` of a song or by folder. They are read again if there are new songs, and as long as a folder is not found.
 */
export async function migrateCovers(migration: AzuracastMigration): Promise<void> {
  const { isDryRun, report, source } = migration
  await listRemoteFolders(migration)
  const newestSong = source.tables.get('station_media')?.maxId ?? 0
  const { isComplete, lastId } = await readStepProgress(migration, step)
  if (isDryRun || (isComplete && lastId >= newestSong)) return
  const folders = await readLocalMediaFolders(migration)
  const found: FoundFiles = { covers: 0, folderCovers: new Map(), sizes: new Map() }
  await forEachMediaFile(migration, folders, async (folder, path, file) => {
    if (isInHiddenFolder(path)) {
      await migrateCover(migration, folder, path, file, found)
      return
    }
    const sizes = found.sizes.get(folder.location) ?? new Map()
    found.sizes.set(folder.location, sizes.set(path, file.size))
  })
  for (const folder of folders)
    await writeSizes(migration, folder, found.sizes.get(folder.location) ?? new Map())
  await applyFolderCovers(migration, folders, found.folderCovers)
  const missing = folders.filter(({ isFound }) => !isFound)
  for (const { folder } of missing)
    report.leave('covers in folders that neither the backup nor this machine has', folder)
  if (found.covers > 0) report.take('covers', found.covers, found.covers)
  await migration.sql.begin(tx =>
    storeStepProgress(tx, migration, step, { lastId: newestSong, isComplete: missing.length === 0 })
  )
}

const sizesPerStatement = 10_000

/** AzuraCast does not store the sizes of files. */
async function writeSizes(
  { sql }: AzuracastMigration,
  { stationIds }: LocalMediaFolder,
  sizes: ReadonlyMap<string, number>
) {
  const all = [...sizes]
  for (let start = 0; start < all.length; start += sizesPerStatement) {
    const part = all.slice(start, start + sizesPerStatement)
    await sql`
      update media m set size_bytes = f.size
      from unnest(${part.map(([path]) => path)}::text[], ${part.map(([, size]) => size)}::bigint[]) as f (path, size)
      where m.station_id = any(${[...stationIds]}::bigint[]) and m.path = f.path and m.remote_playlist_id is null
        and m.size_bytes = 0`
  }
}

async function migrateCover(
  { sql, report }: AzuracastMigration,
  { folder, stationIds, location }: LocalMediaFolder,
  path: string,
  file: ArchivedFile,
  found: FoundFiles
): Promise<void> {
  const [, kind, name = ''] = /^\.(albumart|covers)\/([0-9a-f]{24}|[0-9a-f]{32}|base)\.jpg$/.exec(path) ?? []
  if (kind === undefined) return
  if (file.size > maxCoverBytes) {
    report.leave('covers of more than 5 MiB', join(folder, path))
    return
  }
  const bytes = await readAll(await file.open())
  const type = detectImageType(bytes)
  if (type === null) {
    report.leave('covers that are no pictures', join(folder, path))
    return
  }
  const cover = createCover(bytes, type)
  await sql.begin(async tx => {
    if (kind === 'covers') {
      found.folderCovers.set(`${location} ${name}`, cover.hash)
      await storeCovers(tx, [cover])
      return
    }
    const [known] = await tx`
      select from media where unique_id = ${name} and station_id = any(${[...stationIds]}::bigint[]) limit 1`
    if (!known) return
    await storeCovers(tx, [cover])
    const { count } = await tx`
      update media set artwork_hash = ${cover.hash}
      where unique_id = ${name} and station_id = any(${[...stationIds]}::bigint[]) and artwork_hash is null`
    found.covers += count
  })
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Songs without a cover of their own show that of their folder. */
async function applyFolderCovers(
  { sql }: AzuracastMigration,
  folders: readonly LocalMediaFolder[],
  covers: ReadonlyMap<string, string>
): Promise<void> {
  if (covers.size === 0) return
  for (const { location, stationIds } of folders) {
    const songs = await sql<{ id: number; path: string }[]>`
      select id, path from media
      where station_id = any(${[...stationIds]}::bigint[]) and artwork_hash is null and remote_playlist_id is null`
    const found = songs.flatMap(({ id, path }) => {
      const hash = covers.get(`${location} ${folderCoverName(path)}`)
      return hash === undefined ? [] : [{ id, hash }]
    })
    await sql`
      update media m set artwork_hash = a.hash
      from unnest(${found.map(({ id }) => id)}::bigint[], ${found.map(({ hash }) => hash)}::text[]) as c (id, hash)
      join artwork a on a.hash = c.hash where m.id = c.id`
  }
}

/** The name of the cover of a folder: the MD5 of its path, that of `.` at the top. */
export function folderCoverName(path: string): string {
  const end = path.lastIndexOf('/')
  return createHash('md5')
    .update(end === -1 ? '.' : path.slice(0, end))
    .digest('hex')
}

async function listRemoteFolders(migration: AzuracastMigration): Promise<void> {
  const byLocation = groupStationsByLocation(migration)
  for await (const { row, read } of readSourceRows(migration, 'storage_location')) {
    const stations = byLocation.get(read.number(row, 'id')) ?? []
    const adapter = read.text(row, 'adapter') ?? ''
    if (adapter === 'local') continue
    for (const { name } of stations)
      migration.report.leave('covers of songs in remote storage', `${name} (${adapter})`)
  }
}
