import * as v from 'valibot'

import { appendTracks } from '../../db/media-rows.ts'
import { columnOf, custom, flag, limitElements, problemText, text } from '../../fields/field.ts'
import { bodySchema, bodyValidator } from '../../fields/form.ts'
import type { StationChange } from '../../playout/change-station.ts'
import { syncEntries } from '../../playout/queue/remote-entries.ts'
import { ApiError } from '../../runtime/errors.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody, parseId, refuseField } from '../core/parse.ts'
import { type ApiRequest, apiRoute, json, stationOf } from '../core/route.ts'
import { arrayOf, exactly, int64, string } from '../core/schemas.ts'
import { findFolders } from '../library/file-list.ts'
import { folderPrefix } from '../library/media-paths.ts'
import { changePlaylist, path, playlistAction } from './playlist-actions.ts'
import { playlists } from './playlists.ts'
import { assignItemIds } from './schedule-items.ts'

/** The columns that a copy takes over. Its schedule has items with ids of their own. */
const copiedColumns = Object.entries(playlists.fields)
  .filter(([name, { isStored }]) => isStored && name !== 'name' && name !== 'schedule_items')
  .map(([name]) => `"${columnOf(name)}"`)
  .join(', ')

interface CopyOptions {
  readonly name: string
  readonly hasSchedule: boolean
  readonly hasSongs: boolean
}

interface SourceRow {
  readonly source: 'songs' | 'remote_url'
  readonly remote_type: 'stream' | 'playlist' | 'other'
  readonly remote_url: string
  readonly items: Parameters<typeof assignItemIds>[1]
}

/** Copies a playlist of the station. Returns the id of the copy. */
async function copyPlaylist(
  change: StationChange,
  request: ApiRequest,
  playlistId: number,
  { name, hasSchedule, hasSongs }: CopyOptions
): Promise<number> {
  const { tx, station } = change
  const [source] = await tx<SourceRow[]>`
    select source, remote_type, remote_url, schedule_items as items from playlists where id = ${playlistId}`
  if (!source) throw new ApiError('not-found')
  const items = hasSchedule
    ? await assignItemIds(
        tx,
        source.items.map(item => ({ ...item, id: 0 })),
        []
      )
    : []
  const columns = tx.unsafe(copiedColumns)
  const [copy] = await tx<{ id: number }[]>`
    insert into playlists (station_id, name, schedule_items, ${columns})
    select station_id, ${name}, ${tx.json(items.map(item => ({ ...item })))}, ${columns} from playlists
    where id = ${playlistId} returning id`
  if (!copy) throw new ApiError('not-found')
  const { id } = copy
  await syncEntries(change, { id, stationId: station.id }, null, { ...source, name })
  if (hasSongs)
    await tx`
      insert into playlist_tracks (playlist_id, media_id, position)
      select ${id}::bigint, t.media_id, t.position from playlist_tracks t join media m on m.id = t.media_id
      where t.playlist_id = ${playlistId} and m.remote_playlist_id is null`
  await recordAudit(tx, request, { record: 'Playlist', id, fields: ['name'] })
  return id
}

const nameField = playlists.fields.name
const parts = ['schedule', 'media'] as const
const cloneFields = {
  name: nameField,
  clone: custom(
    v.pipe(
      v.unknown(),
      limitElements(10),
      v.array(
        v.picklist(parts, problemText('not_in_enum', `must be one of ${parts.join(', ')}.`)),
        problemText('invalid_type', 'must be a list.')
      )
    ),
    {
      fallback: [],
      schema: { type: 'array', items: { type: 'string', enum: parts } },
      about: 'What the copy gets in addition to the settings: the schedule, the songs.'
    }
  )
}
const cloneValidator = bodyValidator(cloneFields)

const clone = playlistAction('POST', 'clone', {
  id: 'clonePlaylist',
  summary: 'Copy a playlist',
  body: bodySchema(cloneFields),
  handle(request, services) {
    const { name, clone: copied } = parseBody(cloneValidator, request.body)
    return changePlaylist(request, services, 'copies', async (_tx, { id }, change) => {
      await copyPlaylist(change, request, id, {
        name,
        hasSchedule: copied.includes('schedule'),
        hasSongs: copied.includes('media')
      })
      return 'Record created successfully.'
    })
  }
})

const maxFolders = 100
const maxFolderDepth = 10
const maxListed = 2_000

const readFolders = apiRoute('GET', `${path}/apply-to`, 'view station management', {
  id: 'listPlaylistFolders',
  tag: 'Playlists',
  summary: `The folders whose songs may be added to the playlist, at most ${maxListed}`,
  answer: exactly({
    playlist: exactly({ id: int64, name: string }),
    directories: arrayOf(exactly({ path: string, name: string }))
  }),
  async handle(request, { reads: sql }) {
    const { id: stationId } = stationOf(request)
    const [playlist] = await sql<{ id: number; name: string }[]>`
      select id, name from playlists where id = ${parseId(request.params['id'])} and station_id = ${stationId}`
    if (!playlist) throw new ApiError('not-found')
    const found: string[] = []
    let level = ['']
    for (let depth = 0; depth < maxFolderDepth && level.length > 0 && found.length < maxListed; depth++) {
      const next: string[] = []
      for (const prefix of level) {
        if (found.length + next.length >= maxListed) break
        const names = await findFolders(sql, { stationId, prefix })
        next.push(...names.map(name => prefix + name))
      }
      found.push(...next)
      level = next.map(folder => `${folder}/`)
    }
    return json({
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

const folder = text({ max: 1_000, about: 'folder' })
const applyFields = {
  directories: custom(
    v.pipe(
      v.unknown(),
      limitElements(maxFolders),
      v.array(folder.input, problemText('invalid_type', 'must be a list.'))
    ),
    {
      schema: { type: 'array', items: { type: 'string' }, maxItems: maxFolders },
      about: 'Folders; the songs in and below them are added. "": the whole library.',
      example: ['Jazz']
    }
  ),
  copyPlaylist: flag({ fallback: false, about: 'Whether each folder gets a copy of the playlist instead.' })
}
const applyValidator = bodyValidator(applyFields)

const applyToFolders = playlistAction('PUT', 'apply-to', {
  id: 'applyPlaylistToFolders',
  summary: 'Add the songs of folders to the playlist; songs that are uploaded later are not added',
  body: bodySchema(applyFields),
  handle(request, services) {
    const { directories, copyPlaylist: isCopied } = parseBody(applyValidator, request.body)
    const names = directories.map(directory => folderPrefix(directory))
    return changePlaylist(request, services, 'tracks', async (tx, { id }, change) => {
      const [settings] = await tx<{ name: string; source: string }[]>`
        select name, source from playlists where id = ${id}`
      if (settings?.source !== 'songs')
        throw new ApiError('conflict', 'The playlist has no songs of the library.')
      for (const [index, prefix] of names.entries()) {
        const copyName = `${settings.name} - ${prefix === '' ? '/' : prefix.slice(0, -1)}`
        if (isCopied && copyName.length > 200)
          refuseField(`directories.${index}`, 'too_long', 'is too long for the name of a copy.')
        const songs = await tx<{ id: number }[]>`
          select id from media where station_id = ${change.station.id} and remote_playlist_id is null
            and starts_with(path, ${prefix}) order by path`
        const target = isCopied
          ? await copyPlaylist(change, request, id, { name: copyName, hasSchedule: false, hasSongs: false })
          : id
        await appendTracks(
          tx,
          target,
          songs.map(song => song.id)
        )
      }
      return 'Playlist applied to folders.'
    })
  }
})

export const playlistCopyRoutes = [clone, readFolders, applyToFolders]
