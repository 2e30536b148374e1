import type { Reply } from '../../http/route.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import { parseLibraryPath } from '../../model/songs/library-path.ts'
import { storedPath } from '../../library/storage/media-folder.ts'
import { toCallerError } from '../../library/uploads/media-store.ts'
import { parseId } from '../core/parse.ts'
import { type ApiRequest, type ApiRoute, stationOf } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'
import { recordRoutes } from './files.ts'
import { hasMediaName, parseMediaName } from './media-name.ts'
import { deleteWithFile, findMediaStore, findSongFile, moveWithFile, type SongInStore } from './song-files.ts'
import { withFileUpload } from './uploads/file-upload.ts'
import { parseTarget } from './uploads/upload-target.ts'

/** A file that would be thrown away is refused. */
function assertNoFile({ body }: ApiRequest): void {
  if (typeof body === 'object' && body !== null && 'file' in body)
    refuseField('file', 'unknown', 'cannot be replaced here: upload it to the same path.')
}

async function findSong(request: ApiRequest, { sql }: ApiServices) {
  const [song] = await sql<{ id: number; path: string }[]>`
    select id, path from media where id = ${parseId(request.params['id'])}
      and station_id = ${stationOf(request).id} and remote_playlist_id is null`
  return song
}

type Song = NonNullable<Awaited<ReturnType<typeof findSong>>>

/** Opens the media storage with the file of a song; null if the file cannot be there. */
async function openStored(
  request: ApiRequest,
  services: ApiServices,
  song: Song
): Promise<SongInStore | null> {
  if (/^https?:/i.test(song.path)) return null
  const stationId = stationOf(request).id
  const media = await findMediaStore(services, stationId)
  return media && { services, stationId, media, song }
}

/** Deletes a song and its file. */
async function deleteSong(request: ApiRequest, services: ApiServices): Promise<Reply> {
  const song = await findSong(request, services)
  const deleteOnlyRow = async () => recordRoutes.remove.handle(request, services)
  try {
    const stored = song ? await openStored(request, services, song) : null
    return stored ? await deleteWithFile(stored, deleteOnlyRow) : await deleteOnlyRow()
  } catch (error) {
    throw toCallerError(error)
  }
}

/** Changes a song; a new path moves its file. */
async function editSong(request: ApiRequest, services: ApiServices): Promise<Reply> {
  assertNoFile(request)
  const edit = async () => recordRoutes.update.handle(request, services)
  const { body } = request
  const given: unknown = typeof body === 'object' && body !== null && 'path' in body ? body.path : null
  const song = await findSong(request, services)
  if (!song || typeof given !== 'string' || given === song.path) return edit()
  try {
    const stored = await openStored(request, services, song)
    if (!stored || (await findSongFile(stored)) === null) return await edit()
    const { folder } = stored.media
    const parsed = parseLibraryPath(given, folder)
    // The same is found again, together with the problems of other fields.
    if ('problem' in parsed) return await edit()
    const target = storedPath(parsed.path, folder)
    if (target === null)
      refuseField('path', 'invalid_format', 'must remain below the media folder, where the file is.')
    return await moveWithFile(stored, parseTarget(target), edit)
  } catch (error) {
    throw toCallerError(error)
  }
}

/** The same route; in the dialect of AzuraCast it also finds a song by its unique id or song id. */
const byAnyId = (route: ApiRoute): ApiRoute => ({
  ...route,
  hasDialects: true,
  async handle(request, services) {
    const name = request.params['id'] ?? ''
    if (request.dialect !== 'azuracast' || !/^(?:[0-9a-f]{24}|[0-9a-f]{32})$/.test(name))
      return route.handle(request, services)
    const { sql } = services
    const [media] = await sql<{ id: number }[]>`
      select id from media m where ${hasMediaName(sql, parseMediaName(name))}
        and station_id = ${stationOf(request).id} and remote_playlist_id is null
      order by id limit 1`
    if (!media) throw new ApiError('not-found')
    return route.handle({ ...request, params: { ...request.params, id: String(media.id) } }, services)
  }
})

const { list, create, read, update, remove } = recordRoutes

/** The operations of songs with their files. Deletion requires a separate permission. */
export const fileRoutes: readonly ApiRoute[] = [
  list,
  withFileUpload({ create, read }),
  byAnyId(read),
  byAnyId({ ...update, handle: editSong }),
  byAnyId({ ...remove, access: 'delete station media', handle: deleteSong })
]
