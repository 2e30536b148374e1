import { join } from 'node:path'

import { findStoredFile } from '../../library/storage/file-store.ts'
import { toStoredPath } from '../../library/storage/media-folder.ts'
import { StorageFault } from '../../library/storage/storage-fault.ts'
import { moveFileAndRow } from '../../library/uploads/file-moves.ts'
import {
  isFileMoving,
  lockFilePaths,
  type MediaStore,
  openMediaStore,
  toFileApiError
} from '../../library/uploads/media-store.ts'
import { OutsideRootsError } from '../../platform/runtime/contained-files.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Tx } from '../../stores/db/sql.ts'
import type { ApiServices } from '../core/services.ts'

/*
 * Songs whose file is in the media storage are moved and deleted together with it. Other songs, which were imported
 * from another folder, have a URL or never had a file, are only rows.
 */

/** A song and the media storage of its station. */
export interface SongInStore {
  readonly services: ApiServices
  readonly stationId: number
  readonly media: MediaStore
  readonly song: { readonly id: number; readonly path: string }
}

/** Opens the media storage of a station; null if this server cannot have stored a file there. */
export async function findMediaStore(services: ApiServices, stationId: number): Promise<MediaStore | null> {
  try {
    return await openMediaStore(services, stationId)
  } catch (error) {
    if (error instanceof StorageFault && error.reason === 'denied') return null
    if (error instanceof ApiError && error.kind === 'not-implemented') return null
    throw toFileApiError(error)
  }
}

/** Returns the path of the file of a song in the media storage; null if it has none there. */
export async function findSongFile({ media, song }: SongInStore): Promise<string | null> {
  const file = toStoredPath(song.path, media.folder)
  if (file === null) return null
  try {
    return (await findStoredFile(media.files, file))?.path ?? null
  } catch (error) {
    // Imports store any path.
    if (error instanceof OutsideRootsError) return null
    throw error
  }
}

/**
 * Deletes a song with `deleteRow`, and then its file, if no other song has it. If the storage does not respond, nothing
 * is deleted. Throws errors of `toFileApiError`.
 */
export async function deleteSongWithFile<Result>(
  stored: SongInStore,
  deleteRow: () => Promise<Result>
): Promise<Result> {
  const { services, media, song } = stored
  const file = await findSongFile(stored)
  const result = await deleteRow()
  if (file === null) return result
  try {
    await services.sql.begin(async tx => {
      await lockFilePaths(tx, media, [file])
      if (await isOfOtherSong(tx, stored, file)) return
      await media.files.remove(file)
    })
  } catch (error) {
    const shown = toFileApiError(error)
    services.log.warn({ err: error, media: song.id }, 'file of a deleted song not removed')
    throw shown instanceof ApiError
      ? new ApiError(shown.kind, `The song was deleted, but its file was not: ${shown.message}`)
      : shown
  }
  await services.sql`
    update storage_locations set measure_at = least(measure_at, now() + interval '1 minute')
    where id = ${media.locationId}`
  return result
}

/**
 * Moves the file of a song, if it has one, and then the song with `moveRow`; moves the file back if that fails. Throws
 * 409 if another file is there, or another song has the file.
 */
export async function moveSongWithFile<Result>(
  stored: SongInStore,
  target: string,
  moveRow: () => Promise<Result>
): Promise<Result> {
  const { services, stationId, media, song } = stored
  const file = await findSongFile(stored)
  if (file === null || file === target) return moveRow()
  const check = async (tx: Tx) => {
    if (await isOfOtherSong(tx, stored, file))
      throw new ApiError('conflict', 'The file belongs to a song of another station as well.')
    if (await isUploading(tx, stored, target))
      throw new ApiError('conflict', `A file is being uploaded to ${target}.`)
  }
  const move = { mediaId: song.id, stationId, from: file, to: target }
  return moveFileAndRow(services, media, move, check, moveRow)
}

/** Stations whose media are in the same storage. */
const sharing = (tx: Tx, { stationId, media: { locationId } }: SongInStore) => tx`
  select id from stations
  where deleted_at is null and (id = ${stationId} or media_storage_location_id = ${locationId}::bigint)`

/** Whether another song has the file, or an upload or a move replaces it. The file must be locked. */
async function isOfOtherSong(tx: Tx, stored: SongInStore, file: string): Promise<boolean> {
  const { media, song } = stored
  const paths = media.folder === null ? [file] : [file, join(media.folder, file)]
  const found = await tx`
    select from media where station_id in (${sharing(tx, stored)}) and path = any(${paths}::text[])
      and remote_playlist_id is null and id <> ${song.id}`
  return found.length > 0 || (await isUploading(tx, stored, file)) || (await isFileMoving(tx, media, file))
}

async function isUploading(tx: Tx, stored: SongInStore, file: string): Promise<boolean> {
  const found = await tx`
    select from uploads where station_id in (${sharing(tx, stored)}) and name_key(path) = name_key(${file})
      and state = 'storing'`
  return found.length > 0
}
