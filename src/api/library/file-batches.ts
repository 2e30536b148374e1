import * as v from 'valibot'

import { changeStation } from '../../engine/change-station.ts'
import { addSongsToQueue, toUnrequestedSongs } from '../../engine/queue/manual-queue.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import { toStoredPath } from '../../library/storage/media-folder.ts'
import { toFileApiError } from '../../library/uploads/media-store.ts'
import { reprocessSong } from '../../library/uploads/reprocess.ts'
import { maxElementsCheck } from '../../model/fields/field.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import { appendMissingEntries, countOccurrences } from '../../stores/db/library/playlist-entries.ts'
import { syncFolderSongs } from '../../stores/db/library/playlist-folders.ts'
import { findStoredTarget } from '../../stores/db/library/stored-names.ts'
import { hasPermission } from '../auth/access.ts'
import { recordAudit, changedWithoutValues } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, exactObject, int64, string } from '../core/schemas.ts'
import { createPlaylist } from '../playlists/playlists.ts'
import { clearCuePoints } from './extra-metadata.ts'
import { moveLibrarySong } from './file-renames.ts'
import {
  assertNotTopFolder,
  type FileAction,
  selectSongs,
  maxFilesPerAction,
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
import { fileOperations } from './files.ts'
import { copyFolderAssignments, setFolderPlaylists } from './folder-playlists.ts'
import { removeEmptyFolders, isMediaFolder } from './media-folders.ts'
import { folderPrefix, lastPathPart } from './media-paths.ts'
import { deleteSongWithFile } from './song-files.ts'
import { assertSongPlaylists, joinFolderAndName, parseUploadTarget } from './uploads/upload-target.ts'

const paths = v.nullish(
  v.pipe(v.unknown(), maxElementsCheck(maxFilesPerAction), v.array(pathTextValidator)),
  []
)

const works = ['delete', 'move', 'playlist', 'add', 'queue', 'immediate', 'reprocess', 'clear-extra'] as const

/** Forms send ids as text. */
const playlistId = v.pipe(
  v.custom<number | string>(
    value =>
      (typeof value === 'number' || typeof value === 'string') && /^(?:[1-9]\d{0,14}|new)$/.test(`${value}`),
    'must be the id of a playlist, or new.'
  ),
  v.transform((value): number | 'new' => (value === 'new' ? 'new' : Number(value)))
)
const batchBody = v.object({
  do: v.picklist(works, `must be one of ${works.join(', ')}.`),
  currentDirectory: v.nullish(pathTextValidator, ''),
  files: paths,
  dirs: paths,
  playlists: v.nullish(v.pipe(v.unknown(), maxElementsCheck(500), v.array(playlistId)), []),
  new_playlist_name: v.nullish(pathTextValidator, ''),
  directory: v.nullish(pathTextValidator, ''),
  ...actionPartFields
})
type BatchBody = v.InferOutput<typeof batchBody>

const batchProperties = {
  success: { type: 'boolean' },
  files: arrayOf(string),
  directories: arrayOf(string),
  errors: arrayOf(string)
}
const batchResult = exactObject(batchProperties)

/** The route that changes many files at once. */
export const changeFilesRoute = apiRoute(
  'PUT',
  '/api/station/:station_id/files/batch',
  'manage station media',
  {
    id: 'changeFiles',
    tag: 'Files',
    summary:
      'Delete, move or queue songs, read their tags again (also over what a person set), clear their cue points, or set or add to their playlists; errors name what was left as it is',
    body: {
      type: 'object',
      properties: {
        do: { ...string, enum: works },
        currentDirectory: { ...string, description: 'Ignored: paths are whole.' },
        files: { ...arrayOf(string), maxItems: maxFilesPerAction },
        dirs: { ...arrayOf(string), maxItems: maxFilesPerAction },
        playlists: {
          ...arrayOf({ anyOf: [int64, { ...string, pattern: '^([1-9][0-9]{0,14}|new)$' }] }),
          maxItems: 500,
          description:
            'For playlist: all playlists of the songs beside those of their folders, and all to which the folders are assigned, with the songs that they get later; for add: more playlists of the songs. new: one that is created.'
        },
        new_playlist_name: { ...string, description: 'The name of the playlist that is created.' },
        directory: { ...string, description: 'For move: the target.' },
        ...actionPartSchemas
      },
      required: ['do']
    },
    response: {
      ...batchResult,
      properties: {
        ...batchProperties,
        record: {
          ...exactObject({ id: int64, name: string }),
          description: 'The playlist that was created.'
        },
        next: nextAfterSchema
      }
    },
    errors: [507],
    async handle(request, services) {
      const body = parseBody(batchBody, request.body)
      const action = await openFileAction(request, services)
      const { files, dirs } = await findStoredNames(action, {
        files: body.files ?? [],
        dirs: (body.dirs ?? []).map(dir => dir.replace(/^\/+|\/+$/g, ''))
      })
      const part = partOf(body)
      if (body.do === 'delete') assertMayDelete(request)
      const { playlists, record } = await preparePlaylists(action, body)
      const moveTo = body.directory ?? ''
      if (body.do === 'move' && moveTo !== '') parseUploadTarget(moveTo, 'directory')
      const directory =
        moveTo === ''
          ? ''
          : await findStoredTarget(services.sql, action.stationId, moveTo.replace(/^\/+|\/+$/g, ''))
      // The next part would move what this one has moved.
      if (
        body.do === 'move' &&
        part !== null &&
        dirs.some(dir => `${directory}/`.startsWith(folderPrefix(dir)))
      )
        refuseField('directory', 'invalid_format', 'must not be in a folder that is moved.')
      // Folders are assigned to playlists; all else is done with their songs.
      const isAssigning = body.do === 'playlist'
      assertNotTopFolder(dirs)
      const selected = await selectSongs(action, { files, dirs: isAssigning ? [] : dirs, part })
      const found = new Set(selected.songs.map(({ path }) => path))
      const missing = files.filter(path => !found.has(path))
      const folders: string[] = []
      // A former part may have emptied a folder.
      const isContinued = part !== null && part.after !== ''
      if (isContinued) folders.push(...dirs)
      else
        for (const dir of dirs) {
          const list = (await isMediaFolder(action, dir)) ? folders : missing
          list.push(dir)
        }
      const errors = missing.map(path => `${path}: Record not found.`)
      const done: string[] = []
      const attempt = async (path: string, work: () => Promise<string>) => {
        try {
          const notice = await work()
          if (notice !== '') errors.push(`${path}: ${notice}`)
          return true
        } catch (error) {
          const shown = toFileApiError(error)
          if (!(shown instanceof ApiError)) throw shown
          errors.push(`${path}: ${shown.message}`)
          return false
        }
      }
      const workOnGroup = async (group: readonly SelectedSong[]) => {
        if (body.do === 'playlist' || body.do === 'add') {
          const present = await listSongs(action, group, { playlists, isExact: body.do === 'playlist' })
          for (const { id, path } of group)
            if (present.has(id)) done.push(path)
            else errors.push(`${path}: Record not found.`)
          return
        }
        const work = body.do
        for (const song of group)
          if (await attempt(song.path, () => workOn(action, work, song, { dirs, directory })))
            done.push(song.path)
      }
      const targets: string[] = []
      if (body.do === 'move')
        for (const folder of folders) {
          const target = joinFolderAndName(directory, lastPathPart(folder))
          if (target === folder) continue
          await copyFolderAssignments(action, folder, target)
          targets.push(target)
        }
      // Each of them is queued before the others, so that they play in their order.
      const songs = body.do === 'immediate' ? selected.songs.toReversed() : selected.songs
      const { isOpen } = request
      const groupSize = body.do === 'playlist' || body.do === 'add' ? songsPerChange : 1
      const next = await forEachSongGroup({ ...selected, songs }, { part, isOpen, groupSize }, workOnGroup)
      if (isAssigning)
        for (const folder of folders)
          await attempt(folder, async () => {
            await setFolderPlaylists(action, folder, playlists)
            return ''
          })
      const isNothingMoved = !isContinued && songs.length > 0 && done.length === 0
      if (next === null && (body.do === 'delete' || body.do === 'move'))
        await removeEmptyFolders(action, isNothingMoved ? targets : folders)
      return jsonReply({
        success: errors.length === 0,
        files: done,
        directories: folders,
        errors,
        ...(record ? { record } : {}),
        ...(part === null ? {} : { next })
      })
    }
  }
)

/** The part that a body asks for. Throws 400 if its action is not done in parts. */
function partOf(body: BatchBody): ActionPart | null {
  const part = parseActionPart(body)
  if (part === null) return null
  if ((body.files ?? []).length > 0) refuseField('after', 'not_allowed', 'cannot be combined with files.')
  // A folder that is too large for one request is longer than a queue.
  if (body.do === 'queue' || body.do === 'immediate')
    refuseField('after', 'not_allowed', `cannot be combined with do=${body.do}.`)
  // Each part would create one.
  if (body.playlists?.includes('new'))
    refuseField('after', 'not_allowed', 'cannot be combined with a new playlist.')
  return part
}

/** The ids of the playlists of a request, and the one that was created for it. Throws 400 for unknown ones. */
async function preparePlaylists(
  { request, services, stationId }: FileAction,
  { do: work, playlists, new_playlist_name: newName }: BatchBody
): Promise<{ readonly playlists: readonly number[]; readonly record: object | null }> {
  const ids = (playlists ?? []).filter(id => id !== 'new')
  if (work !== 'playlist' && work !== 'add') return { playlists: ids, record: null }
  await assertSongPlaylists(services.sql, stationId, ids)
  if (!playlists?.includes('new')) return { playlists: ids, record: null }
  const name = newName?.trim() ?? ''
  if (name === '') refuseField('new_playlist_name', 'blank', 'must not be empty.')
  const id = await createPlaylist(request, services, name)
  return { playlists: [...ids, id], record: { id, name } }
}

function assertMayDelete({ caller }: ApiRequest): void {
  const required = {
    permission: 'delete station media' as const,
    stationId: caller?.station?.id ?? null,
    isRead: false
  }
  if (!caller?.key || !hasPermission(caller.key, required)) throw new ApiError('forbidden')
}

/**
 * Songs whose playlists one transaction changes: it ends within seconds, and the queue is refilled once for all of
 * them.
 */
const songsPerChange = 100

/** Adds songs to playlists; `isExact` removes them from all others. Returns the ids of those that still exist. */
async function listSongs(
  { services, stationId, request }: FileAction,
  songs: readonly SelectedSong[],
  { playlists, isExact }: { readonly playlists: readonly number[]; readonly isExact: boolean }
): Promise<ReadonlySet<number>> {
  return changeStation(services, stationId, async change => {
    const { tx } = change
    const rows = await tx<{ id: number }[]>`
      select id from media where station_id = ${stationId} and id = any(${songs.map(({ id }) => id)}::bigint[])
      order by id for key share`
    const present = new Set(rows.map(({ id }) => id))
    const ids = songs.map(({ id }) => id).filter(id => present.has(id))
    if (isExact)
      await tx`
        delete from playlist_tracks where media_id = any(${ids}::bigint[]) and not is_from_folder
          and playlist_id in (select id from playlists where station_id = ${stationId} and source = 'songs')
          and playlist_id <> all(${[...playlists]}::bigint[])`
    for (const id of playlists) await appendMissingEntries(tx, id, countOccurrences(ids))
    await syncFolderSongs(tx, { stationId, mediaIds: ids })
    for (const { id, path } of songs.filter(song => present.has(song.id)))
      await recordAudit(tx, request, {
        record: 'StationFile',
        id,
        name: path,
        changes: changedWithoutValues('playlists')
      })
    await refillQueue(change)
    return present
  })
}

/** Works on a song. Returns a sentence about what was left out, or nothing. */
async function workOn(
  action: FileAction,
  work: Exclude<(typeof works)[number], 'playlist' | 'add'>,
  song: SelectedSong,
  given: { readonly dirs: readonly string[]; readonly directory: string }
): Promise<string> {
  const { services, stationId, request } = action
  switch (work) {
    case 'delete':
      await deleteSongWithFile({ ...action, song }, () => fileOperations.remove(request, services, song.id))
      return ''
    case 'move':
      await moveLibrarySong(
        action,
        song,
        joinFolderAndName(given.directory, pathInMove(song.path, given.dirs))
      )
      return ''
    case 'queue':
    case 'immediate':
      await changeStation(services, stationId, async change => {
        await addSongsToQueue(change, toUnrequestedSongs([song.id]), work === 'immediate' ? 1 : null)
        await recordAudit(change.tx, request, { record: 'QueueItem', id: song.id, name: song.path })
      })
      return ''
    case 'clear-extra':
      await changeStation(services, stationId, ({ tx }) => clearCuePoints(tx, song.id))
      return rereadFile(action, song, { replacesCorrections: false })
    case 'reprocess':
      return rereadFile(action, song, { replacesCorrections: true })
    default:
      return work satisfies never
  }
}

async function rereadFile(
  action: FileAction,
  song: SelectedSong,
  { replacesCorrections }: { readonly replacesCorrections: boolean }
): Promise<string> {
  const file = toStoredPath(song.path, action.media.folder)
  if (file === null) throw new ApiError('conflict', 'The file is not in the media storage.')
  return reprocessSong(action.services, { ...action, song, file, replacesCorrections }, tx =>
    recordAudit(tx, action.request, {
      record: 'StationFile',
      id: song.id,
      name: song.path,
      changes: changedWithoutValues('file')
    })
  )
}

/** The path below the target: that below the folder which is moved, with its name. */
function pathInMove(path: string, dirs: readonly string[]): string {
  const dir = dirs.find(each => path.startsWith(folderPrefix(each)))
  if (dir === undefined) return lastPathPart(path)
  return `${lastPathPart(dir.replace(/\/+$/, ''))}/${path.slice(folderPrefix(dir).length)}`
}
