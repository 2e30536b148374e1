import * as v from 'valibot'

import type { StationChange } from '../../engine/change-station.ts'
import { syncRemoteEntries } from '../../engine/queue/remote-entries.ts'
import {
  toColumnName,
  validatedField,
  maxElementsCheck,
  formatCheckMessage
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { lockImports } from '../../stores/db/library/media-rows.ts'
import { recordAudit, changedWithoutValues } from '../core/audit.ts'
import { parseBody } from '../core/parse.ts'
import type { ApiRequest } from '../core/route.ts'
import { changePlaylist, playlistActionRoute } from './playlist-actions.ts'
import { playlistsResource } from './playlists.ts'
import { assignScheduleItemIds } from './schedule-items.ts'

/** The columns that a copy takes over. Its schedule has items with ids of their own. */
const copiedColumns = Object.entries(playlistsResource.fields)
  .filter(([name, { isStored }]) => isStored && name !== 'name' && name !== 'schedule_items')
  .map(([name]) => `"${toColumnName(name)}"`)
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
  readonly items: Parameters<typeof assignScheduleItemIds>[1]
}

/** Copies a playlist of the station. Returns the id of the copy. */
export async function copyPlaylist(
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
    ? await assignScheduleItemIds(
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
  await syncRemoteEntries(change, { id, stationId: station.id }, null, { ...source, name })
  if (hasSongs) {
    await tx`
      insert into playlist_folders (playlist_id, path)
      select ${id}::bigint, path from playlist_folders where playlist_id = ${playlistId}`
    await tx`
      insert into playlist_tracks (playlist_id, media_id, repeated_media_id, position, is_from_folder)
      select ${id}::bigint, case when not t.is_repeat then m.id end, case when t.is_repeat then m.id end, t.position,
        t.is_from_folder
      from playlist_entries t join media m on m.id = t.media_id
      where t.playlist_id = ${playlistId} and m.remote_playlist_id is null`
  }
  await recordAudit(tx, request, { record: 'Playlist', id, name, changes: { name: { to: name } } })
  return id
}

const nameField = playlistsResource.fields.name
const parts = ['schedule', 'media'] as const
const cloneFields = {
  name: nameField,
  clone: validatedField(
    v.pipe(
      v.unknown(),
      maxElementsCheck(10),
      v.array(
        v.picklist(parts, formatCheckMessage('not_in_enum', `must be one of ${parts.join(', ')}.`)),
        formatCheckMessage('invalid_type', 'must be a list.')
      )
    ),
    {
      fallback: [],
      schema: { type: 'array', items: { type: 'string', enum: parts } },
      about: 'What the copy gets in addition to the settings: the schedule, the songs with the folders.'
    }
  )
}
const cloneValidator = bodyValidator(cloneFields)

const clone = playlistActionRoute('POST', 'clone', {
  id: 'clonePlaylist',
  summary: 'Copy a playlist',
  body: bodySchema(cloneFields),
  handle(request, services) {
    const { name, clone: copied } = parseBody(cloneValidator, request.body)
    return changePlaylist(
      request,
      services,
      () => changedWithoutValues('copies'),
      async (tx, { id }, change) => {
        await lockImports(tx, change.station.id)
        await copyPlaylist(change, request, id, {
          name,
          hasSchedule: copied.includes('schedule'),
          hasSongs: copied.includes('media')
        })
        return 'Record created successfully.'
      }
    )
  }
})

export const playlistCopyRoutes = [clone]
