import * as v from 'valibot'

import { toFileApiError } from '../../library/uploads/media-store.ts'
import { findStoredFolder, findStoredTarget } from '../../stores/db/library/stored-names.ts'
import type { Sql, Tx } from '../../stores/db/sql.ts'
import { actionRoute } from '../core/actions.ts'
import { parseBody } from '../core/parse.ts'
import { actionReply } from '../core/route.ts'
import { string } from '../core/schemas.ts'
import { type FileAction, openFileAction, pathTextValidator } from './file-selection.ts'
import { unassignEmptyFolders } from './folder-playlists.ts'
import { folderPrefix } from './media-paths.ts'
import { joinFolderAndName, parseUploadTarget } from './uploads/upload-target.ts'

/*
 * Folders of the media storage. Those without songs are kept in `media_folders`, since a bucket has no empty folders.
 */

const mkdirBody = v.object({ currentDirectory: v.nullish(pathTextValidator, ''), name: pathTextValidator })

/** Whether there is a folder of this name, with songs or without. */
export async function isMediaFolder(
  { services: { sql }, stationId }: Pick<FileAction, 'services' | 'stationId'>,
  path: string
): Promise<boolean> {
  return (await findStoredFolder(sql, stationId, path)) !== null
}

/** Makes a folder, which remains while it is empty; does nothing if it exists. */
export async function makeMediaFolder(
  { services, stationId, media }: FileAction,
  path: string
): Promise<void> {
  await media.files.makeFolder(path)
  await keepFolder(services.sql, stationId, path)
}

async function keepFolder(sql: Sql | Tx, stationId: number, path: string): Promise<void> {
  await sql`
    insert into media_folders (station_id, path) select id, ${path} from stations
    where id = ${stationId} and deleted_at is null on conflict do nothing`
}

/** Forgets a folder that was moved, with those in it, and removes it from the storage. */
export async function removeMovedFolder(
  { services: { sql }, stationId, media }: FileAction,
  folder: string
): Promise<void> {
  await sql`
    delete from media_folders where station_id = ${stationId} and starts_with(path || '/', ${folderPrefix(folder)})`
  await media.files.removeFolder(folder)
}

/** Removes those of the folders, and of the folders in them, that are empty now, also from playlists. */
export async function removeEmptyFolders(action: FileAction, dirs: readonly string[]): Promise<void> {
  const { services, stationId, media } = action
  const { sql } = services
  if (dirs.length > 0) await unassignEmptyFolders(action, dirs)
  for (const dir of dirs) {
    const prefix = folderPrefix(dir)
    await sql`
      delete from media_folders f where station_id = ${stationId} and starts_with(path || '/', ${prefix})
        and not exists (select from media m where m.station_id = ${stationId} and starts_with(m.path, f.path || '/'))`
    await media.files.removeFolder(dir.replace(/\/+$/, '')).catch(() => {})
  }
}

/** The route that creates a folder. */
export const createFolderRoute = actionRoute(
  'POST',
  '/api/station/:station_id/files/mkdir',
  'manage station media',
  {
    id: 'createFolder',
    tag: 'Files',
    summary: 'Create a folder for songs',
    body: {
      type: 'object',
      properties: { currentDirectory: string, name: string },
      required: ['name']
    },
    errors: [507],
    async prepare(request, services) {
      const { currentDirectory, name } = parseBody(mkdirBody, request.body)
      const target = parseUploadTarget(joinFolderAndName(currentDirectory ?? '', name), 'name')
      try {
        const { stationId, media } = await openFileAction(request, services)
        const path = await findStoredTarget(services.sql, stationId, target)
        await media.files.makeFolder(path)
        return async tx => {
          await keepFolder(tx, stationId, path)
          return {
            audit: [{ record: 'Folder', id: path, name: path }],
            reply: actionReply('Record created successfully.')
          }
        }
      } catch (error) {
        throw toFileApiError(error, 'name')
      }
    }
  }
)
