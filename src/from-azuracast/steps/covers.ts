import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { createArtwork, insertArtwork } from '../../db/media-rows.ts'
import { detectImageType } from '../../songs/image-type.ts'
import type { ArchivedFile } from '../archive.ts'
import { type Migration, readProgress, rowsOf, storeProgress } from '../migration.ts'
import { stationsByLocation } from './media.ts'
import { readLocalFolders } from './storage.ts'

const step = 'covers'
const maxCoverBytes = 5 * 1024 * 1024

/**
 * Takes the covers of songs: AzuraCast stores them in hidden folders beside the media, by the `unique_id` of a song or by folder.
 * They are read from the backup, else from the folder on this machine.
 */
export async function takeCovers(migration: Migration): Promise<void> {
  const { files, isDryRun, report } = migration
  const { isComplete } = await readProgress(migration, step)
  if (isDryRun || isComplete) return
  const folders = await readMediaFolders(migration)
  const counts = { taken: 0 }
  const folderCovers = new Map<string, string>()
  const use = async (file: ArchivedFile) => {
    const path = `/${file.path}`
    const location = folders.find(({ folder }) => path.startsWith(`${folder}/`))
    if (!location) return
    location.isFound = true
    await takeCover(migration, location, path.slice(location.folder.length + 1), file, folderCovers, counts)
  }
  if (files.hasFiles) await files.forEachFile(use)
  for (const location of folders.filter(({ isFound }) => !isFound))
    for (const hidden of ['.albumart', '.covers'])
      for await (const file of listFolder(join(location.folder, hidden))) {
        location.isFound = true
        await takeCover(migration, location, `${hidden}/${file.path}`, file, folderCovers, counts)
      }
  await applyFolderCovers(migration, folders, folderCovers)
  for (const { folder } of folders.filter(({ isFound }) => !isFound))
    report.leave('covers in folders that neither the backup nor this machine has', folder)
  await listRemoteFolders(migration)
  if (counts.taken > 0) report.take('covers', counts.taken, counts.taken)
  await migration.sql.begin(tx => storeProgress(tx, migration, step, { isComplete: true }))
}

interface MediaFolder {
  readonly location: number
  readonly folder: string
  readonly stationIds: readonly number[]
  isFound: boolean
}

async function readMediaFolders(migration: Migration): Promise<MediaFolder[]> {
  const byLocation = stationsByLocation(migration)
  const folders = await readLocalFolders(migration)
  return [...folders].flatMap(([location, folder]) => {
    const stationIds = byLocation.get(location)?.map(({ id }) => id) ?? []
    return stationIds.length === 0 ? [] : [{ location, folder, stationIds, isFound: false }]
  })
}

async function takeCover(
  { sql, report, signal }: Migration,
  { folder, stationIds, location }: MediaFolder,
  path: string,
  file: ArchivedFile,
  folderCovers: Map<string, string>,
  counts: { taken: number }
): Promise<void> {
  signal.throwIfAborted()
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
  const cover = createArtwork(bytes, type)
  await sql.begin(async tx => {
    if (kind === 'covers') {
      folderCovers.set(`${location} ${name}`, cover.hash)
      await insertArtwork(tx, [cover])
      return
    }
    const [known] = await tx`
      select from media where unique_id = ${name} and station_id = any(${[...stationIds]}::bigint[]) limit 1`
    if (!known) return
    await insertArtwork(tx, [cover])
    const { count } = await tx`
      update media set artwork_hash = ${cover.hash}
      where unique_id = ${name} and station_id = any(${[...stationIds]}::bigint[]) and artwork_hash is null`
    counts.taken += count
  })
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Songs without a cover of their own show that of their folder. */
async function applyFolderCovers(
  { sql }: Migration,
  folders: readonly MediaFolder[],
  covers: ReadonlyMap<string, string>
): Promise<void> {
  if (covers.size === 0) return
  for (const { location, stationIds } of folders) {
    const songs = await sql<{ id: number; path: string }[]>`
      select id, path from media
      where station_id = any(${[...stationIds]}::bigint[]) and artwork_hash is null and remote_playlist_id is null`
    const found = songs.flatMap(({ id, path }) => {
      const hash = covers.get(`${location} ${folderHash(path)}`)
      return hash === undefined ? [] : [{ id, hash }]
    })
    await sql`
      update media m set artwork_hash = a.hash
      from unnest(${found.map(({ id }) => id)}::bigint[], ${found.map(({ hash }) => hash)}::text[]) as c (id, hash)
      join artwork a on a.hash = c.hash where m.id = c.id`
  }
}

/** The name of the cover of a folder: the MD5 of its path, that of `.` at the top. */
export function folderHash(path: string): string {
  const end = path.lastIndexOf('/')
  return createHash('md5')
    .update(end === -1 ? '.' : path.slice(0, end))
    .digest('hex')
}

async function* listFolder(folder: string): AsyncGenerator<ArchivedFile> {
  const entries = await opendir(folder).catch(() => null)
  if (entries === null) return
  for await (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(folder, entry.name)
    const { size } = await stat(path)
    yield { path: entry.name, size, open: async () => createReadStream(path) }
  }
}

async function listRemoteFolders(migration: Migration): Promise<void> {
  const byLocation = stationsByLocation(migration)
  for await (const { row, read } of rowsOf(migration, 'storage_location')) {
    const stations = byLocation.get(read.number(row, 'id')) ?? []
    const adapter = read.text(row, 'adapter') ?? ''
    if (adapter === 'local') continue
    for (const { name } of stations)
      migration.report.leave('covers of songs in remote storage', `${name} (${adapter})`)
  }
}
