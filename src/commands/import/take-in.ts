import { randomBytes } from 'node:crypto'
import { open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, relative } from 'node:path'

import { describeFileError } from '../../library/media/scan.ts'
import { FileExistsError, type FileStore, findStoredFile } from '../../library/storage/file-store.ts'
import { readFreeBytes } from '../../library/storage/local.ts'
import { toStoredPath } from '../../library/storage/media-folder.ts'
import { formatSize } from '../../library/storage/size.ts'
import { StorageFault } from '../../library/storage/storage-fault.ts'
import { beginFileMove, endFileMove } from '../../library/uploads/file-moves.ts'
import { isFileMoving, type MediaStore } from '../../library/uploads/media-store.ts'
import { addNumberToPath } from '../../model/songs/library-path.ts'
import { isInsideRoots, OutsideRootsError } from '../../platform/runtime/contained-files.ts'
import { ApiError, errorCodeOf } from '../../platform/runtime/errors.ts'
import { OperatorError } from '../../platform/runtime/operator-error.ts'
import { describeError } from '../../platform/runtime/store-errors.ts'
import { listUnicodeForms } from '../../platform/text/unicode-names.ts'
import { lockImports } from '../../stores/db/library/media-rows.ts'
import { syncFolderSongs } from '../../stores/db/library/playlist-folders.ts'
import { findStoredSongs } from '../../stores/db/library/stored-names.ts'
import type { Fragment, Sql, Tx } from '../../stores/db/sql.ts'

/*
 * An import first stores where a file is, an absolute path, and then takes the file in: it copies the file into the
 * media storage of the station, where the dashboard can play, move and delete it, and stores the path there. The
 * original stays as it is. Songs that earlier releases imported, or whose taking in was interrupted, have an absolute
 * path until then.
 */

export interface TakeInOptions {
  readonly stationId: number
  readonly media: MediaStore
  /** Real folders: songs elsewhere stay where they are. Null: all songs. */
  readonly roots: readonly string[] | null
  readonly signal?: AbortSignal | undefined
  /** A song was taken in, or stays where it is for a reason. */
  readonly onSong?: (song: { readonly path: string; readonly reason?: string }) => void
}

/** SQL: whether a song `m` has an absolute path. */
const isAbsoluteSong = (sql: Sql | Tx, stationId: number): Fragment =>
  sql`m.station_id = ${stationId} and m.remote_playlist_id is null and starts_with(m.path, '/')`

/** Returns how many songs have an absolute path, how many of them are to be copied, and the bytes of these. */
export async function measureTakeIn(sql: Sql, { stationId, media, roots }: TakeInOptions) {
  const folders = (media.folder === null ? [] : [media.folder, media.realFolder ?? media.folder]).map(
    toPrefix
  )
  const isCopied = sql`not exists (select from unnest(${folders}::text[]) f where starts_with(m.path, f))`
  const [row] = await sql<{ songs: number; copies: number; bytes: number }[]>`
    select count(*)::int as songs, count(*) filter (where ${isCopied})::int as copies,
      coalesce(sum(m.size_bytes) filter (where ${isCopied}), 0)::float8 as bytes
    from media m where ${isAbsoluteSong(sql, stationId)}
      and (${roots === null} or exists (select from unnest(${(roots ?? []).map(toPrefix)}::text[]) r where starts_with(m.path, r)))`
  return row ?? { songs: 0, copies: 0, bytes: 0 }
}

const toPrefix = (folder: string) => (folder.endsWith('/') ? folder : `${folder}/`)

/** Throws an `OperatorError` if the media storage has no room for so many bytes. */
export async function assertStoreHasRoom(sql: Sql, media: MediaStore, bytes: number): Promise<void> {
  const [quota] = await sql<{ bytes: number }[]>`
    select greatest(0, storage_quota_bytes - used_bytes)::float8 as bytes from storage_locations
    where id = ${media.locationId} and storage_quota_bytes > 0`
  const free = media.realFolder === null ? null : await readFreeBytes(media.realFolder)
  const room = Math.min(quota?.bytes ?? Infinity, free === null ? Infinity : Number(free))
  if (bytes <= room) return
  throw new OperatorError(
    `${formatSize(BigInt(bytes))} do not fit into the media storage, which has room for ${formatSize(BigInt(room))}. Make room, or make ` +
      'the folder of the files the media storage of the station (Storage in the dashboard): what is there is not copied'
  )
}

/**
 * Takes in songs with absolute paths, one after the other. Returns how many, and how many stay where they are. May be
 * interrupted and repeated at any time.
 */
export async function takeInSongs(sql: Sql, options: TakeInOptions) {
  const { stationId, signal, onSong } = options
  const counts = { taken: 0, left: 0 }
  const roots = options.roots ?? [await findCommonFolder(sql, stationId)]
  await addFolders(sql, options, roots)
  let after = 0
  for (;;) {
    if (signal?.aborted) break
    const songs = await sql<AbsoluteSong[]>`
      select m.id, m.path from media m where ${isAbsoluteSong(sql, stationId)} and m.id > ${after}
      order by m.id limit ${batchSongs}`
    for (const song of songs.filter(({ path }) => isInsideRoots(path, roots))) {
      if (signal?.aborted) break
      const reason = await takeIn(sql, options, roots, song)
      if (reason === null) counts.taken += 1
      else counts.left += 1
      onSong?.({ path: song.path, ...(reason === null ? {} : { reason }) })
    }
    const last = songs.at(-1)
    if (last === undefined) break
    after = last.id
  }
  if (counts.taken > 0)
    await sql`update storage_locations set measure_at = now() where id = ${options.media.locationId}`
  return counts
}

/** Takes in what an import has found, if there is room for all of it. Throws an `OperatorError` if not. */
export async function takeInImported(sql: Sql, options: TakeInOptions) {
  const { songs, bytes } = await measureTakeIn(sql, options)
  if (songs === 0) return { taken: 0, left: 0 }
  await assertStoreHasRoom(sql, options.media, bytes)
  return takeInSongs(sql, options)
}

const batchSongs = 100

interface AbsoluteSong {
  readonly id: number
  readonly path: string
}

/** Returns why the song stays where it is, or null. */
async function takeIn(
  sql: Sql,
  { stationId, media }: TakeInOptions,
  roots: readonly string[],
  song: AbsoluteSong
): Promise<string | null> {
  const inner = pathInStore(song.path, media)
  if (inner !== null) return storePath(sql, stationId, song, { path: inner, from: null })
  try {
    // Imports store real paths: a link that came later may lead anywhere.
    if ((await realpath(song.path)) !== song.path) return 'a link has replaced a part of its path'
    const stats = await stat(song.path)
    if (!stats.isFile()) return 'it is not a regular file'
    const target = await reserveTarget(sql, { stationId, media }, song, toTarget(song.path, roots))
    try {
      if (!target.isThere) await copyFileIntoStore(media, song.path, target.path)
      return await storePath(sql, stationId, song, { path: target.path, from: song.path })
    } finally {
      await endFileMove(sql, song.id)
    }
  } catch (error) {
    return describeCopyError(error)
  }
}

/** Copies a file to a path of the media storage, in place of a file that is there. */
export async function copyFileIntoStore({ files }: MediaStore, source: string, path: string): Promise<void> {
  await files.put(source, path, randomBytes(8).toString('hex'), { keepsSource: true })
}

/** Why one file cannot be copied. Throws an `OperatorError` if no file can. */
export function describeCopyError(error: unknown): string {
  if (error instanceof StorageFault)
    throw new OperatorError(`the media storage cannot be used: ${error.message}`, { cause: error })
  if (['ENOSPC', 'EDQUOT', 'EROFS'].includes(errorCodeOf(error)))
    throw new OperatorError(`the media storage cannot be written: ${describeError(error)}`, { cause: error })
  if (errorCodeOf(error) === 'ENAMETOOLONG') return 'its name is too long for the media storage'
  if (error instanceof FileExistsError)
    return `a file or folder is in the way in the media storage: ${error.message}`
  if (error instanceof OutsideRootsError || error instanceof ApiError) return error.message
  return describeFileError(error)
}

/** The path of a file in the media storage; null if it is elsewhere. Folders may be configured by a link. */
export const pathInStore = (path: string, { folder, realFolder }: MediaStore): string | null =>
  toStoredPath(path, realFolder) ?? toStoredPath(path, folder)

/** The path at which a file outside is stored: below a folder with the name of its root, without hidden names. */
function toTarget(path: string, roots: readonly string[]): string {
  const root = roots.find(each => isInsideRoots(path, [each])) ?? dirname(path)
  const parts = [basename(root), ...relative(root, path).split('/')].filter(part => part !== '')
  return parts.map(part => part.replace(/\p{Cc}/gu, '_').replace(/^\.+/, '_')).join('/')
}

const maxTargets = 1_000

/**
 * Reserves a free path for a copy, or that of a former copy whose song was not stored, until `endFileMove`. Nobody else
 * stores a file there meanwhile. Files of other stations with the same storage are left alone. Throws 409 if another
 * command is taking the song in.
 */
async function reserveTarget(
  sql: Sql,
  { stationId, media }: Pick<TakeInOptions, 'stationId' | 'media'>,
  song: AbsoluteSong,
  wanted: string
): Promise<{ readonly path: string; readonly isThere: boolean }> {
  for (let n = 1; n <= maxTargets; n += 1) {
    const to = n === 1 ? wanted : addNumberToPath(wanted, n)
    try {
      await beginFileMove(sql, media, { mediaId: song.id, stationId, from: song.path, to }, async tx => {
        const isTaken =
          (await findStoredSongs(tx, stationId, [to])).size > 0 ||
          (await hasSongAt(tx, media, to)) ||
          (await isFileMoving(tx, media, to))
        if (isTaken) throw new FileExistsError(to)
      })
    } catch (error) {
      if (error instanceof FileExistsError) continue
      throw error
    }
    try {
      const there = await findStoredFile(media.files, to)
      if (there === null) return { path: to, isThere: false }
      if (await hasContentOf(media.files, there, song.path)) return { path: there.path, isThere: true }
    } catch (error) {
      await endFileMove(sql, song.id)
      throw error
    }
    await endFileMove(sql, song.id)
  }
  throw new FileExistsError(wanted)
}

/** Whether a song of any station with this storage has this path. */
async function hasSongAt(tx: Tx, { locationId }: MediaStore, path: string): Promise<boolean> {
  if (locationId === null) return false
  const [song] = await tx`
    select from stations s join media m on m.station_id = s.id
    where s.media_storage_location_id = ${locationId} and m.path = any(${[...listUnicodeForms(path)]}::text[])
      and m.remote_playlist_id is null limit 1`
  return song !== undefined
}

const comparedBytes = 1024 * 1024

/** Whether a stored file has the bytes of a local one. Its time and size may be those of another song. */
async function hasContentOf(
  files: FileStore,
  { path, sizeBytes }: { readonly path: string; readonly sizeBytes: number },
  source: string
): Promise<boolean> {
  await using file = await open(source)
  if ((await file.stat()).size !== sizeBytes) return false
  const memory = Buffer.allocUnsafe(comparedBytes)
  for (let offset = 0; offset < sizeBytes;) {
    const stored = await files.read(path, offset, comparedBytes)
    const { bytesRead } = await file.read(memory, 0, stored.length, offset)
    if (stored.length === 0 || bytesRead !== stored.length) return false
    if (memory.compare(stored, 0, bytesRead, 0, bytesRead) !== 0) return false
    offset += bytesRead
  }
  return true
}

/** Stores the new path of a song, and where its file was copied from. Returns why not, or null. */
async function storePath(
  sql: Sql,
  stationId: number,
  { id, path: former }: AbsoluteSong,
  { path, from }: { readonly path: string; readonly from: string | null }
): Promise<string | null> {
  return sql.begin(async tx => {
    await lockImports(tx, stationId)
    const { count } = await tx`
      update media set path = ${path}, imported_from = ${from} where id = ${id} and path = ${former} and not exists (
        select from media where station_id = ${stationId} and path = ${path} and remote_playlist_id is null)`
    if (count === 0) return `the song ${path} has this file already`
    await syncFolderSongs(tx, { stationId, mediaIds: [id] })
    return null
  })
}

/** The folder that contains all imported files of a station. It stays the same while they are taken in. */
async function findCommonFolder(sql: Sql, stationId: number): Promise<string> {
  const [ends] = await sql<{ first: string | null; last: string | null }[]>`
    select min(file collate "C") as first, max(file collate "C") as last
    from (select coalesce(imported_from, path) as file from media
      where station_id = ${stationId} and remote_playlist_id is null) f where starts_with(file, '/')`
  const [first, last] = [ends?.first ?? '/', ends?.last ?? '/'].map(path => dirname(path).split('/'))
  const differs = first?.findIndex((part, index) => part !== last?.[index]) ?? 0
  return (differs < 0 ? first : first?.slice(0, differs))?.join('/') || '/'
}

/** Adds to playlists the folders of the media storage that get the songs of their folders. */
async function addFolders(
  sql: Sql,
  { stationId, media }: TakeInOptions,
  roots: readonly string[]
): Promise<void> {
  const folders = await sql<{ playlistId: number; path: string }[]>`
    select f.playlist_id as "playlistId", f.path from playlist_folders f join playlists p on p.id = f.playlist_id
    where p.station_id = ${stationId} and starts_with(f.path, '/')`
  for (const { playlistId, path } of folders) {
    const above = roots.filter(root => isInsideRoots(root, [path]))
    const targets = isInsideRoots(path, roots) ? [path] : above
    for (const target of targets)
      await sql`
        insert into playlist_folders (playlist_id, path)
        values (${playlistId}, ${pathInStore(target, media) ?? toTarget(target, roots)}) on conflict do nothing`
  }
}
