import * as v from 'valibot'

import {
  validatedField,
  integerField,
  maxElementsCheck,
  formatCheckMessage
} from '../../model/fields/field.ts'
import { bodySchema, bodyValidator } from '../../model/fields/validators.ts'
import {
  ApiError,
  assertNoFieldErrors,
  fieldError,
  type FieldError,
  refuseField
} from '../../platform/runtime/errors.ts'
import { mapInTimeSlices, visitInTimeSlices } from '../../platform/runtime/time-slices.ts'
import {
  orderPlaylistEntries,
  removePlaylistEntry,
  appendRepeatedSong
} from '../../stores/db/library/playlist-entries.ts'
import { syncFolderSongs } from '../../stores/db/library/playlist-folders.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { redactLocation } from '../../webhooks/redact.ts'
import { maySeeUnredactedUrls } from '../auth/access.ts'
import { parseBody, parseListElements, parsePathId } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { exactObject, int64 } from '../core/schemas.ts'
import { changePlaylist, playlistPath, playlistActionRoute, auditChangedTracks } from './playlist-actions.ts'

const maxEntries = 100_000

interface EntryRow {
  readonly spm_id: number
  readonly media_id: number
  readonly position: number
  readonly path: string
  readonly artist: string
  readonly title: string
  readonly length: number
}

const readOrder = apiRoute('GET', `${playlistPath}/order`, 'view station management', {
  id: 'getPlaylistOrder',
  tag: 'Playlists',
  summary: 'The entries of a playlist in order; a song that is repeated has several',
  response: {
    type: 'array',
    items: exactObject({
      spm_id: { ...int64, description: 'The id of the entry.' },
      media_id: int64,
      position: { type: 'integer' },
      path: { type: 'string' },
      artist: { type: 'string' },
      title: { type: 'string' },
      length: { type: 'integer', description: 'Seconds.' }
    })
  },
  async handle(request, { reads: sql }) {
    const station = getRequestStation(request)
    const id = parsePathId(request.params['id'])
    const [playlist] = await sql`select from playlists where id = ${id} and station_id = ${station.id}`
    if (!playlist) throw new ApiError('not-found')
    const entries = await sql<EntryRow[]>`
      select t.id as spm_id, m.id as media_id, row_number() over (order by t.position, t.id)::integer as position, m.path,
        m.artist, m.title, m.duration_ms / 1000 as length
      from playlist_entries t join media m on m.id = t.media_id
      where t.playlist_id = ${id} and m.remote_playlist_id is null
      order by t.position, t.id limit ${maxEntries}`
    const isWhole = maySeeUnredactedUrls(request.caller?.key ?? null, 'manage station media', station.id)
    return jsonReply(
      isWhole ? entries : entries.map(entry => ({ ...entry, path: redactLocation(entry.path) }))
    )
  }
})

const mediaId = integerField({
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
  about: 'The id of a song.',
  example: 12
})
const orderFields = {
  order: validatedField(
    v.pipe(
      v.unknown(),
      maxElementsCheck(maxEntries),
      v.array(v.unknown(), formatCheckMessage('invalid_type', 'must be a list.'))
    ),
    {
      schema: { type: 'array', items: mediaId.schema, maxItems: maxEntries },
      about:
        'The ids of songs; a repeated song may be listed as often as the playlist has it. Entries that are not listed follow in their present order.',
      example: [12, 7, 9, 7]
    }
  )
}
const orderValidator = bodyValidator(orderFields)

const writeOrder = playlistActionRoute('PUT', 'order', {
  id: 'reorderPlaylist',
  summary: 'Reorder the entries of a playlist',
  maxBodyValues: maxEntries + 10,
  body: bodySchema(orderFields),
  async handle(request, services) {
    const body = parseBody(orderValidator, request.body)
    const order = await parseListElements(mediaId.input, body.order, 'order')
    return changePlaylist(request, services, auditChangedTracks, async (tx, { id }) => {
      await orderPlaylistEntries(tx, await arrangeEntries(await readPlaylistEntries(tx, id), order))
      return 'Changes saved successfully.'
    })
  }
})

interface Entry {
  readonly id: number
  readonly mediaId: number
}

const readPlaylistEntries = (tx: Tx, playlistId: number) => tx<Entry[]>`
  select id, media_id as "mediaId" from playlist_entries where playlist_id = ${playlistId} order by position, id`

/**
 * The ids of all entries, in the order of songs. Entries of the same song keep their order, so that the first one
 * remains the first. Throws 400 for songs that the playlist does not have, or not as often, of which it names the first
 * ones.
 */
export async function arrangeEntries(entries: readonly Entry[], order: readonly number[]): Promise<number[]> {
  const left = new Map<number, number[]>()
  await visitInTimeSlices(sliceMs, entries.toReversed(), ({ id, mediaId: song }) => {
    const ids = left.get(song)
    if (ids) ids.push(id)
    else left.set(song, [id])
  })
  const problems: FieldError[] = []
  const listed = await mapInTimeSlices(sliceMs, order, (song, index) => {
    const ids = left.get(song)
    const id = ids?.pop()
    const refuse = (code: string, sentence: string) => {
      if (problems.length < maxProblems) problems.push(fieldError(`order.${index}`, code, sentence))
    }
    if (ids === undefined) refuse('not_found', 'is not a song of the playlist.')
    else if (id === undefined) refuse('duplicate', 'is listed more often than the playlist has it.')
    return id ?? 0
  })
  assertNoFieldErrors(problems)
  const arranged = new Set(listed)
  // A set keeps the order in which its elements were added.
  await visitInTimeSlices(sliceMs, entries, ({ id }) => void arranged.add(id))
  return [...arranged]
}

const sliceMs = 8
const maxProblems = 100

const entryFields = {
  media_id: mediaId,
  position: integerField({
    min: 0,
    max: maxEntries,
    fallback: 0,
    about: 'The place of the entry, from 1; 0: the end.'
  })
}
const entryValidator = bodyValidator(entryFields)

const addEntry = playlistActionRoute('POST', 'entries', {
  id: 'addPlaylistEntry',
  summary: 'Add a song to a playlist, once more if it contains the song',
  body: bodySchema(entryFields),
  errors: [409],
  handle(request, services) {
    const { media_id: song, position } = parseBody(entryValidator, request.body)
    return changePlaylist(request, services, auditChangedTracks, async (tx, { id }, { station }) => {
      const [playlist] = await tx<{ source: string; isFull: boolean }[]>`
        select source, (select count(*) from playlist_entries where playlist_id = ${id}) >= ${maxEntries} as "isFull"
        from playlists where id = ${id}`
      if (playlist?.source !== 'songs')
        throw new ApiError('conflict', 'The playlist has no songs of the library.')
      if (playlist.isFull) throw new ApiError('conflict', `The playlist has ${maxEntries} entries already.`)
      const [known] = await tx`
        select from media where id = ${song} and station_id = ${station.id} and remote_playlist_id is null`
      if (!known) refuseField('media_id', 'not_found', `${song} is not a song of the station.`)
      const entryId = await appendRepeatedSong(tx, id, song)
      if (position > 0) {
        const others = (await readPlaylistEntries(tx, id))
          .map(entry => entry.id)
          .filter(each => each !== entryId)
        await orderPlaylistEntries(tx, others.toSpliced(position - 1, 0, entryId))
      }
      return 'Entry added.'
    })
  }
})

const deleteEntry = playlistActionRoute('DELETE', 'entry/:entry_id', {
  id: 'deletePlaylistEntry',
  summary: 'Remove one entry from a playlist; other entries of the song remain',
  errors: [409],
  handle(request, services) {
    const entryId = parsePathId(request.params['entry_id'])
    return changePlaylist(request, services, auditChangedTracks, async (tx, { id }, { station }) => {
      const [entry] = await tx<{ mediaId: number }[]>`
        select t.media_id as "mediaId" from playlist_entries t join media m on m.id = t.media_id
        where t.id = ${entryId} and t.playlist_id = ${id} and m.remote_playlist_id is null`
      if (!entry) throw new ApiError('not-found')
      await removePlaylistEntry(tx, entryId)
      const { added } = await syncFolderSongs(tx, { stationId: station.id, mediaIds: [entry.mediaId] })
      // Folders add a song to the playlist that does not have it any more.
      if (added > 0) throw new ApiError('conflict', 'The playlist has the song because of its folder.')
      return 'Entry removed.'
    })
  }
})

export const playlistEntryRoutes = [readOrder, writeOrder, addEntry, deleteEntry]
