import * as v from 'valibot'

import { changeStation } from '../../playout/change-station.ts'
import { ApiError, codeOf } from '../../runtime/errors.ts'
import { storedPath } from '../../storage/media-folder.ts'
import { toCallerError } from '../../uploads/media-store.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody, refuseField } from '../core/parse.ts'
import { actionReply, apiRoute } from '../core/route.ts'
import { ref, string } from '../core/schemas.ts'
import { type FileAction, findSongs, openAction, pathText, type Song } from './file-selection.ts'
import { forgetMovedFolder, isFolder, makeFolder } from './media-folders.ts'
import { folderPrefix } from './media-paths.ts'
import { moveWithFile } from './song-files.ts'
import { parseTarget } from './uploads/upload-target.ts'

const renameBody = v.object({ file: pathText, newPath: pathText })

/** Moves a song and its file. Throws 409 if another song has the path. */
export async function moveSong(
  { request, services, stationId, media }: FileAction,
  song: Song,
  target: string
) {
  const { id, path } = song
  const inner = storedPath(path, media.folder)
  if (inner === null) throw new ApiError('conflict', 'The file is not in the media storage.')
  if (inner === target) return
  await moveWithFile({ services, stationId, media, song }, target, async () => {
    const move = changeStation(services, stationId, async ({ tx }) => {
      const { count } = await tx`
        update media set path = ${target} where id = ${id} and station_id = ${stationId} and path = ${path}`
      if (count === 0) throw new ApiError('not-found')
      await recordAudit(tx, request, { record: 'StationFile', id, fields: ['path'] })
    })
    await move.catch((error: unknown) => {
      if (codeOf(error) !== '23505') throw error
      throw new ApiError('conflict', `Another song has the path ${target}.`)
    })
  })
}

/** Moves all songs below a folder, then the folder itself. Throws 404 if it does not exist. */
async function moveFolder(action: FileAction, folder: string, target: string): Promise<void> {
  const { services, stationId } = action
  const prefix = folderPrefix(folder)
  const songs = await findSongs(action, [], [folder], 'file')
  const { count } = await services.sql`
    select from media_folders where station_id = ${stationId} and (path || '/') = ${prefix}`
  if (songs.length + count === 0) throw new ApiError('not-found')
  if (`${target}/`.startsWith(prefix))
    refuseField('newPath', 'invalid_format', 'must not be in the folder that is moved.')
  if (await isFolder(action, target)) throw new ApiError('conflict', `There is a folder ${target} already.`)
  for (const song of songs) await moveSong(action, song, `${target}/${song.path.slice(prefix.length)}`)
  await makeFolder(action, target)
  await forgetMovedFolder(action, folder)
}

/** The route that renames or moves a song or a folder. */
export const renameFile = apiRoute('PUT', '/api/station/:station_id/files/rename', 'manage station media', {
  id: 'renameFile',
  tag: 'Files',
  summary: 'Rename or move a song or a folder with its songs',
  body: { type: 'object', properties: { file: string, newPath: string }, required: ['file', 'newPath'] },
  answer: ref('ActionResult'),
  errors: [404, 507],
  async handle(request, services) {
    const { file, newPath } = parseBody(renameBody, request.body)
    const target = parseTarget(newPath, 'newPath')
    const action = await openAction(request, services)
    try {
      const [song] = await findSongs(action, [file], [])
      if (song) {
        await moveSong(action, song, target)
        return actionReply('Record updated successfully.')
      }
      await moveFolder(action, file, target)
      return actionReply('Record updated successfully.')
    } catch (error) {
      throw toCallerError(error)
    }
  }
})
