import * as v from 'valibot'

import { changeStation } from '../../engine/change-station.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { toStoredPath } from '../../library/storage/media-folder.ts'
import { toFileApiError } from '../../library/uploads/media-store.ts'
import { ApiError, errorCodeOf, refuseField } from '../../platform/runtime/errors.ts'
import { syncFolderSongs } from '../../stores/db/library/playlist-folders.ts'
import { findStoredTarget } from '../../stores/db/library/stored-names.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import { actionResultFields, apiRoute, jsonReply } from '../core/route.ts'
import { actionResultProperties, actionResultSchema, string } from '../core/schemas.ts'
import {
  type FileAction,
  selectSongs,
  nextAfterSchema,
  openFileAction,
  parseActionPart,
  type ActionPart,
  actionPartFields,
  actionPartSchemas,
  pathTextValidator,
  type SelectedSong,
  findStoredNames,
  forEachSongGroup
} from './file-selection.ts'
import { copyFolderAssignments, unassignEmptyFolders } from './folder-playlists.ts'
import { removeEmptyFolders, removeMovedFolder, isMediaFolder, makeMediaFolder } from './media-folders.ts'
import { folderPrefix } from './media-paths.ts'
import { moveSongWithFile } from './song-files.ts'
import { parseUploadTarget } from './uploads/upload-target.ts'

const renameBody = v.object({ file: pathTextValidator, newPath: pathTextValidator, ...actionPartFields })

/** Moves a song and its file. Throws 409 if another song has the path. */
export async function moveLibrarySong(
  { request, services, stationId, media }: FileAction,
  song: SelectedSong,
  target: string
) {
  const { id, path } = song
  const inner = toStoredPath(path, media.folder)
  if (inner === null) throw new ApiError('conflict', 'The file is not in the media storage.')
  if (inner === target) return
  await moveSongWithFile({ services, stationId, media, song }, target, async () => {
    const move = changeStation(services, stationId, async change => {
      const { tx } = change
      const { count } = await tx`
        update media set path = ${target} where id = ${id} and station_id = ${stationId} and path = ${path}`
      if (count === 0) throw new ApiError('not-found')
      await recordAudit(tx, request, {
        record: 'StationFile',
        id,
        name: target,
        changes: { path: { from: path, to: target } }
      })
      const { added, removed } = await syncFolderSongs(tx, { stationId, mediaIds: [id] })
      if (added + removed > 0) await refillQueue(change)
    })
    await move.catch((error: unknown) => {
      if (errorCodeOf(error) !== '23505') throw error
      throw new ApiError('conflict', `Another song has the path ${target}.`)
    })
  })
}

/**
 * Moves the songs of a folder or a part of them, and the folder when it has no more. If there are more songs, returns
 * the path of the last one that was moved, otherwise null. Throws 404 if the folder does not exist.
 */
async function moveFolder(
  action: FileAction,
  folder: string,
  target: string,
  part: ActionPart | null
): Promise<string | null> {
  const { services, stationId, request } = action
  const prefix = folderPrefix(folder)
  const selected = await selectSongs(action, { dirs: [folder], part, field: 'file' })
  const { count } = await services.sql`
    select from media_folders where station_id = ${stationId} and (path || '/') = ${prefix}`
  if (selected.songs.length + count === 0) throw new ApiError('not-found')
  if (`${target}/` === prefix) return null
  if (`${target}/`.startsWith(prefix))
    refuseField('newPath', 'invalid_format', 'must not be in the folder that is moved.')
  // The first part has made it.
  const isContinued = part !== null && part.after !== ''
  if (!isContinued && (await isMediaFolder(action, target)))
    throw ApiError.ofFields(
      [{ field: 'newPath', code: 'duplicate', message: `There is a folder ${target} already.` }],
      'conflict'
    )
  await copyFolderAssignments(action, folder, target)
  let moved = 0
  // A whole move goes on after the client has disconnected.
  const isOpen = () => part === null || request.isOpen()
  let next: string | null
  try {
    next = await forEachSongGroup(selected, { part, isOpen }, async group => {
      for (const song of group)
        try {
          await moveLibrarySong(action, song, `${target}/${song.path.slice(prefix.length)}`)
          moved += 1
        } catch (error) {
          throw moved === 0 ? error : withCount(toFileApiError(error), moved)
        }
    })
  } finally {
    if (moved === 0 && selected.songs.length > 0) await removeEmptyFolders(action, [target])
  }
  if (next !== null || !isOpen()) return next
  await makeMediaFolder(action, target)
  await removeMovedFolder(action, folder)
  await unassignEmptyFolders(action, [folder])
  return null
}

/** Says in an error how many songs were moved before it. */
function withCount(error: unknown, moved: number): unknown {
  if (!(error instanceof ApiError)) return error
  const { kind, message, extraData, retryAfterSeconds } = error
  const songs = moved === 1 ? '1 song was' : `${moved} songs were`
  return new ApiError(kind, `${message} Before that, ${songs} moved.`, extraData, retryAfterSeconds)
}

/** The route that renames or moves a song or a folder. */
export const renameFileRoute = apiRoute(
  'PUT',
  '/api/station/:station_id/files/rename',
  'manage station media',
  {
    id: 'renameFile',
    tag: 'Files',
    summary: 'Rename or move a song or a folder with its songs',
    body: {
      type: 'object',
      properties: { file: string, newPath: string, ...actionPartSchemas },
      required: ['file', 'newPath']
    },
    response: { ...actionResultSchema({}), properties: { ...actionResultProperties, next: nextAfterSchema } },
    errors: [404, 507],
    async handle(request, services) {
      const body = parseBody(renameBody, request.body)
      const part = parseActionPart(body)
      const newPath = parseUploadTarget(body.newPath, 'newPath')
      const action = await openFileAction(request, services)
      const names = await findStoredNames(action, {
        files: [body.file],
        dirs: [body.file.replace(/\/+$/, '')]
      })
      const target = await findStoredTarget(services.sql, action.stationId, newPath)
      try {
        const [song] = (await selectSongs(action, { files: names.files })).songs
        let next: string | null = null
        if (song) await moveLibrarySong(action, song, target)
        else next = await moveFolder(action, names.dirs[0] ?? body.file, target, part)
        const message = next === null ? 'Record updated successfully.' : 'A part of the songs was moved.'
        return jsonReply({ ...actionResultFields(message), ...(part === null ? {} : { next }) })
      } catch (error) {
        throw toFileApiError(error)
      }
    }
  }
)
