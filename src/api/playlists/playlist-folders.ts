import * as v from 'valibot'

import {
  validatedField,
  flagField,
  maxElementsCheck,
  formatCheckMessage,
  textField
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import {
  ApiError,
  assertNoFieldErrors,
  fieldError,
  type FieldError,
  refuseField
} from '../../platform/runtime/errors.ts'
import { lockImports } from '../../stores/db/library/media-rows.ts'
import {
  syncFolderSongs,
  maxFoldersOfPlaylist,
  toFolderPath
} from '../../stores/db/library/playlist-folders.ts'
import { findStoredFolder } from '../../stores/db/library/stored-names.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { redactLocation } from '../../webhooks/redact.ts'
import { maySeeUnredactedUrls } from '../auth/access.ts'
import { changedWithoutValues } from '../core/audit.ts'
import { parseBody, parsePathId } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { findSubfolders } from '../library/file-list.ts'
import { assignFoldersToPlaylist } from '../library/folder-playlists.ts'
import { changePlaylist, playlistPath, playlistActionRoute } from './playlist-actions.ts'
import { copyPlaylist } from './playlist-copies.ts'

const maxFolders = 100
const maxFolderDepth = 10
const maxListed = 2_000

const readFolders = apiRoute('GET', `${playlistPath}/apply-to`, 'view station management', {
  id: 'listPlaylistFolders',
  tag: 'Playlists',
  summary: `The folders whose songs may be added to the playlist, at most ${maxListed}`,
  response: exactObject({
    playlist: exactObject({ id: int64, name: string }),
    directories: arrayOf(exactObject({ path: string, name: string }))
  }),
  async handle(request, { reads: sql }) {
    const { id: stationId } = getRequestStation(request)
    const playlist = await getPlaylist(sql, request)
    const found: string[] = []
    let level = ['']
    for (let depth = 0; depth < maxFolderDepth && level.length > 0 && found.length < maxListed; depth++) {
      const next: string[] = []
      for (const prefix of level) {
        if (found.length + next.length >= maxListed) break
        const names = await findSubfolders(sql, { stationId, prefix })
        next.push(...names.map(name => prefix + name))
      }
      found.push(...next)
      level = next.map(folder => `${folder}/`)
    }
    return jsonReply({
      playlist,
      directories: [
        { path: '', name: '/ (Base Directory)' },
        ...found
          .toSorted()
          .slice(0, maxListed)
          .map(folder => ({ path: folder, name: `/${folder}` }))
      ]
    })
  }
})

const folder = textField({ max: 1_000, about: 'folder' })
const applyFields = {
  directories: validatedField(
    v.pipe(
      v.unknown(),
      maxElementsCheck(maxFolders),
      v.array(folder.input, formatCheckMessage('invalid_type', 'must be a list.'))
    ),
    {
      schema: { type: 'array', items: { type: 'string' }, maxItems: maxFolders },
      about: `Folders; a playlist has at most ${maxFoldersOfPlaylist}. "": the whole library.`,
      example: ['Jazz']
    }
  ),
  copyPlaylist: flagField({
    fallback: false,
    about: 'Whether each folder gets a copy of the playlist instead.'
  })
}
const applyValidator = bodyValidator(applyFields)

const applyToFolders = playlistActionRoute('PUT', 'apply-to', {
  id: 'applyPlaylistToFolders',
  summary:
    'Assign folders to the playlist: it gets the songs that are in and below them now, and those that arrive there later',
  body: bodySchema(applyFields),
  async handle(request, services) {
    const { directories, copyPlaylist: isCopied } = parseBody(applyValidator, request.body)
    const paths = await findPaths(request, services, directories)
    return changePlaylist(
      request,
      services,
      () => changedWithoutValues('folders'),
      async (tx, { id }, change) => {
        const [settings] = await tx<{ name: string; source: string }[]>`
        select name, source from playlists where id = ${id}`
        if (settings?.source !== 'songs')
          throw new ApiError('conflict', 'The playlist has no songs of the library.')
        await lockImports(tx, change.station.id)
        if (!isCopied) await assignFoldersToPlaylist(change, id, paths, 'directories')
        for (const folderPath of isCopied ? paths : []) {
          const name = `${settings.name} - ${folderPath || '/'}`
          if (name.length > 200)
            refuseField('directories', 'too_long', 'are too long for the names of copies.')
          const copyId = await copyPlaylist(change, request, id, { name, hasSchedule: true, hasSongs: false })
          await assignFoldersToPlaylist(change, copyId, [folderPath], 'directories')
        }
        return 'Playlist applied to folders.'
      }
    )
  }
})

/**
 * Returns folders as they are stored. A slash before them is ignored, unless there is an absolute one. Throws 400 for
 * those that the library does not have; it always has the top folder.
 */
async function findPaths(
  request: ApiRequest,
  services: ApiServices,
  directories: readonly string[]
): Promise<string[]> {
  const { id: stationId } = getRequestStation(request)
  const problems: FieldError[] = []
  const paths = new Set<string>()
  for (const [index, directory] of directories.entries()) {
    const whole = toFolderPath(directory)
    const inner = whole.replace(/^\/+/, '')
    const stored =
      (inner === whole ? null : await findStoredFolder(services.sql, stationId, whole)) ??
      (inner === '' ? '' : await findStoredFolder(services.sql, stationId, inner))
    if (stored === null)
      problems.push(fieldError(`directories.${index}`, 'not_found', 'is not a folder of the library.'))
    else paths.add(stored)
  }
  assertNoFieldErrors(problems)
  return [...paths]
}

async function getPlaylist(sql: Sql, request: ApiRequest) {
  const [playlist] = await sql<{ id: number; name: string }[]>`
    select id, name from playlists
    where id = ${parsePathId(request.params['id'])} and station_id = ${getRequestStation(request).id}`
  if (!playlist) throw new ApiError('not-found')
  return playlist
}

const listAssigned = apiRoute('GET', `${playlistPath}/folders`, 'view station management', {
  id: 'listFoldersOfPlaylist',
  tag: 'Playlists',
  summary: 'The folders that are assigned to the playlist',
  response: arrayOf(
    exactObject({ id: int64, path: { ...string, description: 'Empty: the whole library.' } })
  ),
  async handle(request, { reads: sql }) {
    const { id } = await getPlaylist(sql, request)
    const folders = await sql<{ id: number; path: string }[]>`
      select id, path from playlist_folders where playlist_id = ${id} order by path`
    const isWhole = maySeeUnredactedUrls(
      request.caller?.key ?? null,
      'manage station media',
      getRequestStation(request).id
    )
    return jsonReply(folders.map(each => (isWhole ? each : { ...each, path: redactLocation(each.path) })))
  }
})

const removeAssigned = playlistActionRoute('DELETE', 'folder/:folder_id', {
  id: 'removeFolderOfPlaylist',
  summary: 'Remove a folder from the playlist, with the songs that are in it only because of the folder',
  handle(request, services) {
    const folderId = parsePathId(request.params['folder_id'])
    return changePlaylist(
      request,
      services,
      () => changedWithoutValues('folders'),
      async (tx, { id }, { station }) => {
        await lockImports(tx, station.id)
        const { count } =
          await tx`delete from playlist_folders where id = ${folderId} and playlist_id = ${id}`
        if (count === 0) throw new ApiError('not-found')
        await syncFolderSongs(tx, { stationId: station.id, playlistId: id })
        return 'Record deleted successfully.'
      }
    )
  }
})

export const playlistFolderRoutes = [readFolders, applyToFolders, listAssigned, removeAssigned]
