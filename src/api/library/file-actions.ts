import * as v from 'valibot'

import { appendTracks } from '../../db/media-rows.ts'
import { changeStation } from '../../playout/change-station.ts'
import { addToQueue } from '../../playout/queue/manual-queue.ts'
import { refillQueue } from '../../playout/queue/queue.ts'
import { ApiError, codeOf } from '../../runtime/errors.ts'
import { storedPath } from '../../storage/media-folder.ts'
import { type MediaStore, openUsableMediaStore, toCallerError } from '../../uploads/media-store.ts'
import { reprocessSong } from '../../uploads/reprocess.ts'
import { allows } from '../auth/access.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody, refuseField } from '../core/parse.ts'
import { actionReply, type ApiRequest, apiRoute, json, stationOf } from '../core/route.ts'
import { arrayOf, exactly, int64, ref, string } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { createPlaylist } from '../playlists/playlists.ts'
import { clearCuePoints } from './extra-metadata.ts'
import { deleteRow } from './files.ts'
import { folderPrefix, nameOf } from './media-paths.ts'
import { deleteWithFile, moveWithFile } from './song-files.ts'
import { assertPlaylists, joinFolder, parseTarget } from './upload-target.ts'

const access = 'manage station media'
const tag = 'Files'
const maxFiles = 2_000

const text = v.pipe(
  v.string('must be text.'),
  v.check(value => !value.includes('\0'), 'is not valid.')
)
const paths = v.nullish(
  v.pipe(v.array(text), v.maxLength(maxFiles, `must have at most ${maxFiles} entries.`)),
  []
)

const renameBody = v.object({ file: text, newPath: text })
const mkdirBody = v.object({ currentDirectory: v.nullish(text, ''), name: text })
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
  currentDirectory: v.nullish(text, ''),
  files: paths,
  dirs: paths,
  playlists: v.nullish(v.pipe(v.array(playlistId), v.maxLength(500, 'must have at most 500 entries.')), []),
  new_playlist_name: v.nullish(text, ''),
  directory: v.nullish(text, '')
})

interface Song {
  readonly id: number
  readonly path: string
}

/** What the steps of an action share. */
interface Action {
  readonly request: ApiRequest
  readonly services: ApiServices
  readonly stationId: number
  readonly media: MediaStore
}

async function openAction(request: ApiRequest, services: ApiServices): Promise<Action> {
  const stationId = stationOf(request).id
  return { request, services, stationId, media: await openUsableMediaStore(services, stationId) }
}

/** The songs at these paths and below these folders. Throws 400 if there are too many. */
async function findSongs(
  { services: { sql }, stationId }: Action,
  files: readonly string[],
  dirs: readonly string[]
) {
  const prefixes = dirs.map(folderPrefix)
  if (prefixes.includes('')) refuseField('dirs', 'invalid_format', 'must not contain the top folder.')
  const songs = await sql<Song[]>`
    select id, path from media m where station_id = ${stationId} and remote_playlist_id is null
      and (path = any(${[...files]}::text[])
        or exists (select from unnest(${prefixes}::text[]) p where starts_with(m.path, p)))
    order by path limit ${maxFiles + 1}`
  if (songs.length > maxFiles)
    refuseField('dirs', 'too_many', `must contain at most ${maxFiles} songs at once.`)
  return songs
}

async function moveSong({ request, services, stationId, media }: Action, song: Song, target: string) {
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

const rename = apiRoute('PUT', '/api/station/:station_id/files/rename', access, {
  id: 'renameFile',
  tag,
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

async function moveFolder(action: Action, folder: string, target: string): Promise<void> {
  const { services, stationId, media } = action
  const prefix = folderPrefix(folder)
  const songs = await findSongs(action, [], [folder])
  const { count } = await services.sql`
    select from media_folders where station_id = ${stationId} and (path || '/') = ${prefix}`
  if (songs.length + count === 0) throw new ApiError('not-found')
  if (`${target}/`.startsWith(prefix))
    refuseField('newPath', 'invalid_format', 'must not be in the folder that is moved.')
  if (await isFolder(action, target)) throw new ApiError('conflict', `There is a folder ${target} already.`)
  for (const song of songs) await moveSong(action, song, `${target}/${song.path.slice(prefix.length)}`)
  await services.sql`
    delete from media_folders where station_id = ${stationId} and starts_with(path || '/', ${prefix})`
  await rememberFolder(action, target)
  await media.files.removeFolder(folder)
}

async function isFolder({ services: { sql }, stationId }: Action, path: string): Promise<boolean> {
  const found = await sql`
    select from media_folders where station_id = ${stationId} and path = ${path}
    union all
    select from media where station_id = ${stationId} and remote_playlist_id is null and starts_with(path, ${`${path}/`})
    limit 1`
  return found.length > 0
}

async function rememberFolder({ services: { sql }, stationId, media }: Action, path: string): Promise<void> {
  await media.files.makeFolder(path)
  await sql`
    insert into media_folders (station_id, path) select id, ${path} from stations
    where id = ${stationId} and deleted_at is null on conflict do nothing`
}

const mkdir = apiRoute('POST', '/api/station/:station_id/files/mkdir', access, {
  id: 'createFolder',
  tag,
  summary: 'Create a folder for songs',
  body: {
    type: 'object',
    properties: { currentDirectory: string, name: string },
    required: ['name']
  },
  answer: ref('ActionResult'),
  errors: [507],
  async handle(request, services) {
    const { currentDirectory, name } = parseBody(mkdirBody, request.body)
    const path = parseTarget(joinFolder(currentDirectory ?? '', name), 'name')
    try {
      await rememberFolder(await openAction(request, services), path)
    } catch (error) {
      throw toCallerError(error, 'name')
    }
    return actionReply('Record created successfully.')
  }
})

const batchProperties = {
  success: { type: 'boolean' },
  files: arrayOf(string),
  directories: arrayOf(string),
  errors: arrayOf(string)
}
const batchResult = exactly(batchProperties)

const batch = apiRoute('PUT', '/api/station/:station_id/files/batch', access, {
  id: 'changeFiles',
  tag,
  summary:
    'Delete, move, queue or read songs again, clear their cue points, or set or add to their playlists; errors name what was left as it is',
  body: {
    type: 'object',
    properties: {
      do: { ...string, enum: works },
      currentDirectory: { ...string, description: 'Ignored: paths are whole.' },
      files: { ...arrayOf(string), maxItems: maxFiles },
      dirs: { ...arrayOf(string), maxItems: maxFiles },
      playlists: {
        ...arrayOf({ anyOf: [int64, { ...string, pattern: '^([1-9][0-9]{0,14}|new)$' }] }),
        maxItems: 500,
        description:
          'For playlist: all playlists that the songs get; for add: more of them. new: one that is created.'
      },
      new_playlist_name: { ...string, description: 'The name of the playlist that is created.' },
      directory: { ...string, description: 'For move: the target.' }
    },
    required: ['do']
  },
  answer: {
    ...batchResult,
    properties: {
      ...batchProperties,
      record: { ...exactly({ id: int64, name: string }), description: 'The playlist that was created.' }
    }
  },
  errors: [507],
  async handle(request, services) {
    const body = parseBody(batchBody, request.body)
    const action = await openAction(request, services)
    const files = body.files ?? []
    const dirs = body.dirs ?? []
    if (body.do === 'delete') assertMayDelete(request)
    const { playlists, record } = await preparePlaylists(action, body)
    const directory = body.directory ?? ''
    if (body.do === 'move' && directory !== '') parseTarget(directory, 'directory')
    const songs = await findSongs(action, files, dirs)
    const found = new Set(songs.map(({ path }) => path))
    const errors = files.filter(path => !found.has(path)).map(path => `${path}: Record not found.`)
    const done: string[] = []
    const attempt = async (song: Song, work: () => Promise<void>) => {
      try {
        await work()
        done.push(song.path)
      } catch (error) {
        const shown = toCallerError(error)
        if (!(shown instanceof ApiError)) throw shown
        errors.push(`${song.path}: ${shown.message}`)
      }
    }
    for (const song of songs) {
      if (!request.isOpen()) break
      await attempt(song, () => workOn(action, body.do, song, { dirs, directory, playlists }))
    }
    if (body.do === 'delete' || body.do === 'move') await forgetFolders(action, dirs)
    const result = { success: errors.length === 0, files: done, directories: dirs, errors }
    return json(record ? { ...result, record } : result)
  }
})

/** The ids of the playlists of a request, and the one that was created for it. Throws 400 for unknown ones. */
async function preparePlaylists(
  { request, services, stationId }: Action,
  { do: work, playlists, new_playlist_name: newName }: v.InferOutput<typeof batchBody>
): Promise<{ readonly playlists: readonly number[]; readonly record: object | null }> {
  const ids = (playlists ?? []).filter(id => id !== 'new')
  if (work !== 'playlist' && work !== 'add') return { playlists: ids, record: null }
  await assertPlaylists(services.sql, stationId, ids)
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
  if (!caller?.key || !allows(caller.key, required)) throw new ApiError('forbidden')
}

interface Given {
  readonly dirs: readonly string[]
  readonly directory: string
  readonly playlists: readonly number[]
}

async function workOn(action: Action, work: (typeof works)[number], song: Song, given: Given): Promise<void> {
  const { services, stationId, request } = action
  switch (work) {
    case 'delete':
      await deleteWithFile({ ...action, song }, () => deleteRow(request, services, song.id))
      return undefined
    case 'move':
      return moveSong(action, song, joinFolder(given.directory, pathInMove(song.path, given.dirs)))
    case 'playlist':
    case 'add':
      await changeStation(services, stationId, async change => {
        const { tx } = change
        if (work === 'playlist')
          await tx`
          delete from playlist_tracks where media_id = ${song.id}
            and playlist_id in (select id from playlists where station_id = ${stationId} and source = 'songs')
            and playlist_id <> all(${[...given.playlists]}::bigint[])`
        for (const id of given.playlists) await appendTracks(tx, id, [song.id])
        await recordAudit(tx, request, { record: 'StationFile', id: song.id, fields: ['playlists'] })
        await refillQueue(change)
      })
      return undefined
    case 'queue':
    case 'immediate':
      await changeStation(services, stationId, async change => {
        await addToQueue(change, [song.id], work === 'immediate' ? 1 : null)
        await recordAudit(change.tx, request, { record: 'QueueItem', id: song.id })
      })
      return undefined
    case 'clear-extra':
      await changeStation(services, stationId, ({ tx }) => clearCuePoints(tx, song.id))
      return workOn(action, 'reprocess', song, given)
    case 'reprocess': {
      const file = storedPath(song.path, action.media.folder)
      if (file === null) throw new ApiError('conflict', 'The file is not in the media storage.')
      return reprocessSong(services, { ...action, song, file }, tx =>
        recordAudit(tx, request, { record: 'StationFile', id: song.id, fields: ['file'] })
      )
    }
    default:
      return work satisfies never
  }
}

/** The path below the target: that below the folder which is moved, with its name. */
function pathInMove(path: string, dirs: readonly string[]): string {
  const dir = dirs.find(each => path.startsWith(folderPrefix(each)))
  if (dir === undefined) return nameOf(path)
  return `${nameOf(dir.replace(/\/+$/, ''))}/${path.slice(folderPrefix(dir).length)}`
}

/** Removes folders that are empty now. */
async function forgetFolders({ services: { sql }, stationId, media }: Action, dirs: readonly string[]) {
  for (const dir of dirs) {
    const prefix = folderPrefix(dir)
    await sql`
      delete from media_folders f where station_id = ${stationId} and starts_with(path || '/', ${prefix})
        and not exists (select from media m where m.station_id = ${stationId} and starts_with(m.path, f.path || '/'))`
    await media.files.removeFolder(dir.replace(/\/+$/, '')).catch(() => {})
  }
}

export const fileActionRoutes = [rename, mkdir, batch]
