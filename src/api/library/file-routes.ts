import { toStoredPath } from '../../library/storage/media-folder.ts'
import { toFileApiError } from '../../library/uploads/media-store.ts'
import { parseLibraryPath } from '../../model/songs/library-path.ts'
import { isWebUrl } from '../../platform/outbound/networks.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import { resourceOperationRoutes } from '../core/resource-routes.ts'
import { type ApiRequest, type ApiRoute, getRequestStation } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { fileOperations, filesResource } from './files.ts'
import {
  deleteSongWithFile,
  findMediaStore,
  findSongFile,
  moveSongWithFile,
  type SongInStore
} from './song-files.ts'
import { withFileUpload } from './uploads/file-upload.ts'
import { parseUploadTarget } from './uploads/upload-target.ts'

/** A file that would be thrown away is refused. */
function assertNoFile({ body }: ApiRequest): void {
  if (typeof body === 'object' && body !== null && 'file' in body)
    refuseField('file', 'unknown', 'cannot be replaced here: upload it to the same path.')
}

async function findSong(request: ApiRequest, { sql }: ApiServices, id: number) {
  const [song] = await sql<{ id: number; path: string }[]>`
    select id, path from media where id = ${id}
      and station_id = ${getRequestStation(request).id} and remote_playlist_id is null`
  return song
}

type Song = NonNullable<Awaited<ReturnType<typeof findSong>>>

/** Opens the media storage with the file of a song; null if the file cannot be there. */
async function openStored(
  request: ApiRequest,
  services: ApiServices,
  song: Song
): Promise<SongInStore | null> {
  if (isWebUrl(song.path)) return null
  const stationId = getRequestStation(request).id
  const media = await findMediaStore(services, stationId)
  return media && { services, stationId, media, song }
}

/** Deletes a song and its file. */
async function deleteSong(request: ApiRequest, services: ApiServices, id: number): Promise<void> {
  const song = await findSong(request, services, id)
  const deleteOnlyRow = async () => fileOperations.remove(request, services, id)
  try {
    const stored = song ? await openStored(request, services, song) : null
    if (stored) await deleteSongWithFile(stored, deleteOnlyRow)
    else await deleteOnlyRow()
  } catch (error) {
    throw toFileApiError(error)
  }
}

/** Changes a song; a new path moves its file. */
async function editSong(request: ApiRequest, services: ApiServices, id: number): Promise<void> {
  assertNoFile(request)
  const edit = async () => fileOperations.update(request, services, id)
  const { body } = request
  const given: unknown = typeof body === 'object' && body !== null && 'path' in body ? body.path : null
  const song = await findSong(request, services, id)
  if (!song || typeof given !== 'string' || given === song.path) return edit()
  try {
    const stored = await openStored(request, services, song)
    if (!stored || (await findSongFile(stored)) === null) return await edit()
    const { folder } = stored.media
    const parsed = parseLibraryPath(given, folder)
    // The same is found again, together with the problems of other fields.
    if ('problem' in parsed) return await edit()
    const target = toStoredPath(parsed.path, folder)
    if (target === null)
      refuseField('path', 'invalid_format', 'must remain below the media folder, where the file is.')
    await moveSongWithFile(stored, parseUploadTarget(target), edit)
  } catch (error) {
    throw toFileApiError(error)
  }
}

const [list, create, read, update, remove] = resourceOperationRoutes(filesResource, {
  ...fileOperations,
  update: editSong,
  remove: deleteSong
})

/** The operations of songs with their files. Deletion requires a separate permission. */
export const fileRoutes: readonly ApiRoute[] = [
  list,
  withFileUpload(create),
  read,
  update,
  { ...remove, access: 'delete station media' }
]
