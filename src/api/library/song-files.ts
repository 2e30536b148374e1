import { join } from 'node:path'

import { OutsideRootsError } from '../../runtime/contained-files.ts'
import { ApiError, codeOf } from '../../runtime/errors.ts'
import { StorageFault } from '../../storage/fault.ts'
import { type MediaStore, openMediaStore, toCallerError } from '../../uploads/media-store.ts'
import type { ApiServices } from '../core/services.ts'
import { storedPath } from './media-paths.ts'

/*
 * Songs whose file is in the media storage are moved and deleted together with it. Other songs, which were imported from
 * another folder, have a URL or never had a file, are only rows.
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
    throw toCallerError(error)
  }
}

/** Returns the path of the file of a song in the media storage; null if it has none there. */
export async function findSongFile({ media, song }: SongInStore): Promise<string | null> {
  const file = storedPath(song.path, media.folder)
  if (file === null) return null
  try {
    return (await media.files.stat(file)) === null ? null : file
  } catch (error) {
    // Imports store any path.
    if (error instanceof OutsideRootsError || codeOf(error) === 'ENAMETOOLONG') return null
    throw error
  }
}

/**
 * Deletes a song with `deleteRow`, and then its file, if no other song has it. If the storage does not respond, nothing is
 * deleted. Throws errors of `toCallerError`.
 */
export async function deleteWithFile<Result>(
  stored: SongInStore,
  deleteRow: () => Promise<Result>
): Promise<Result> {
  const { services, media, song } = stored
  const file = await findSongFile(stored)
  const result = await deleteRow()
  if (file === null || (await isOfOtherSong(stored, file))) return result
  try {
    await media.files.remove(file)
  } catch (error) {
    const shown = toCallerError(error)
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
 * Moves the file of a song, if it has one, and then the song with `moveRow`; moves the file back if that fails. Throws 409 if
 * another file is there, or another song has the file.
 */
export async function moveWithFile<Result>(
  stored: SongInStore,
  target: string,
  moveRow: () => Promise<Result>
): Promise<Result> {
  const { services, media, song } = stored
  const file = await findSongFile(stored)
  if (file === null || file === target) return moveRow()
  if (await isOfOtherSong(stored, file))
    throw new ApiError('conflict', 'The file belongs to a song of another station as well.')
  await media.files.move(file, target)
  try {
    return await moveRow()
  } catch (error) {
    await media.files
      .move(target, file)
      .catch((failure: unknown) =>
        services.log.error({ err: failure, media: song.id, path: target }, 'file not moved back')
      )
    throw error
  }
}

/** Whether another song has the file, perhaps of another station with the same storage, or an upload replaces it. */
async function isOfOtherSong(
  { services: { sql }, stationId, media: { folder, locationId }, song }: SongInStore,
  file: string
): Promise<boolean> {
  const paths = folder === null ? [file] : [file, join(folder, file)]
  const found = await sql`
    with sharing as (select id from stations
      where deleted_at is null and (id = ${stationId} or media_storage_location_id = ${locationId}::bigint))
    select from media where station_id in (select id from sharing) and path = any(${paths}::text[])
      and remote_playlist_id is null and id <> ${song.id}
    union all
    select from uploads where station_id in (select id from sharing) and path = ${file} and state = 'storing'`
  return found.length > 0
}
