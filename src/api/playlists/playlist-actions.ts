import * as v from 'valibot'

import { applyFolders } from '../../db/playlist-folders.ts'
import type { Tx } from '../../db/sql.ts'
import { custom, integer, limitElements, problemText } from '../../fields/field.ts'
import { bodySchema, bodyValidator } from '../../fields/form.ts'
import { changeStation, type StationChange } from '../../playout/change-station.ts'
import { startNewPass } from '../../playout/queue/passes.ts'
import { refillQueue } from '../../playout/queue/queue.ts'
import { ApiError } from '../../runtime/errors.ts'
import { redactedLocation } from '../../webhooks/redact.ts'
import { maySeeWholeUrls } from '../auth/access.ts'
import { assertNoProblems, findUnknown } from '../core/accept.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody, parseId } from '../core/parse.ts'
import {
  actionReply,
  type ApiRequest,
  type ApiRoute,
  apiRoute,
  json,
  type Operation,
  type Reply,
  stationOf
} from '../core/route.ts'
import { exactly, ref } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

/** The path of a playlist. */
export const path = '/api/station/:station_id/playlist/:id'
const maxTracks = 100_000

interface Playlist {
  readonly id: number
  readonly isEnabled: boolean
}

/** Changes a playlist of the station and refills the queue. `change` returns the message of the response. */
export async function changePlaylist(
  request: ApiRequest,
  services: ApiServices,
  field: string,
  change: (tx: Tx, playlist: Playlist, stationChange: StationChange) => Promise<string>
): Promise<Reply> {
  const { id: stationId } = stationOf(request)
  const id = parseId(request.params['id'])
  const message = await changeStation(services, stationId, async stationChange => {
    const { tx } = stationChange
    const [playlist] = await tx<Playlist[]>`
      select id, is_enabled as "isEnabled" from playlists
      where id = ${id} and station_id = ${stationId} for no key update`
    if (!playlist) throw new ApiError('not-found')
    const result = await change(tx, playlist, stationChange)
    await refillQueue(stationChange)
    await recordAudit(tx, request, { record: 'Playlist', id, fields: [field] })
    return result
  })
  return actionReply(message)
}

/** A route that changes a playlist. */
export const playlistAction = (
  method: ApiRoute['method'],
  name: string,
  declared: Pick<Operation, 'id' | 'summary' | 'body' | 'errors'> & Pick<ApiRoute, 'handle'>
) =>
  apiRoute(method, `${path}/${name}`, 'manage station media', {
    tag: 'Playlists',
    answer: ref('ActionResult'),
    ...declared
  })

const toggle = playlistAction('PUT', 'toggle', {
  id: 'togglePlaylist',
  summary: 'Enable or disable a playlist; the queue is refilled',
  handle: (request, services) =>
    changePlaylist(request, services, 'is_enabled', async (tx, { id, isEnabled }) => {
      await tx`update playlists set is_enabled = ${!isEnabled} where id = ${id}`
      return isEnabled ? 'Playlist disabled.' : 'Playlist enabled.'
    })
})

const reshuffle = playlistAction('PUT', 'reshuffle', {
  id: 'reshufflePlaylist',
  summary: 'Start a new pass through the songs, in a new order if shuffled',
  handle: (request, services) =>
    changePlaylist(request, services, 'tracks', async (tx, { id }) => {
      await startNewPass(tx, id)
      return 'Playlist reshuffled.'
    })
})

const empty = playlistAction('DELETE', 'empty', {
  id: 'emptyPlaylist',
  summary: 'Remove all songs from a playlist, except those of its folders; they remain in the library',
  handle: (request, services) =>
    changePlaylist(request, services, 'tracks', async (tx, { id }, { station }) => {
      await tx`
        delete from playlist_tracks t using media m
        where t.playlist_id = ${id} and m.id = t.media_id and m.remote_playlist_id is null and not t.is_from_folder`
      await applyFolders(tx, { stationId: station.id, playlistId: id })
      const [kept] =
        await tx`select from playlist_tracks where playlist_id = ${id} and is_from_folder limit 1`
      return kept ? 'Playlist emptied, except for the songs of its folders.' : 'Playlist emptied.'
    })
})

const readOrder = apiRoute('GET', `${path}/order`, 'view station management', {
  id: 'getPlaylistOrder',
  tag: 'Playlists',
  summary: 'The songs of a playlist in order',
  answer: {
    type: 'array',
    items: exactly({
      media_id: { type: 'integer', format: 'int64' },
      position: { type: 'integer' },
      path: { type: 'string' },
      artist: { type: 'string' },
      title: { type: 'string' },
      length: { type: 'integer', description: 'Seconds.' }
    })
  },
  async handle(request, { reads: sql }) {
    const station = stationOf(request)
    const id = parseId(request.params['id'])
    const [playlist] = await sql`select from playlists where id = ${id} and station_id = ${station.id}`
    if (!playlist) throw new ApiError('not-found')
    const songs = await sql<{ path: string }[]>`
      select m.id as media_id, row_number() over (order by t.position, t.id)::integer as position, m.path, m.artist,
        m.title, m.duration_ms / 1000 as length
      from playlist_tracks t join media m on m.id = t.media_id
      where t.playlist_id = ${id} and m.remote_playlist_id is null
      order by t.position, t.id limit ${maxTracks}`
    const isWhole = maySeeWholeUrls(request.caller?.key ?? null, 'manage station media', station.id)
    return json(isWhole ? songs : songs.map(song => ({ ...song, path: redactedLocation(song.path) })))
  }
})

const mediaId = integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' })
const orderFields = {
  order: custom(
    v.pipe(
      v.unknown(),
      limitElements(maxTracks),
      v.array(mediaId.input, problemText('invalid_type', 'must be a list.')),
      v.check(list => new Set(list).size === list.length, problemText('duplicate', 'contains a song twice.'))
    ),
    {
      schema: { type: 'array', items: mediaId.schema, maxItems: maxTracks },
      about: 'The ids of songs. Songs that are not listed follow in their present order.',
      example: [12, 7, 9]
    }
  )
}
const orderValidator = bodyValidator(orderFields)

const writeOrder = playlistAction('PUT', 'order', {
  id: 'reorderPlaylist',
  summary: 'Reorder the songs of a playlist',
  body: bodySchema(orderFields),
  handle(request, services) {
    const { order } = parseBody(orderValidator, request.body)
    const positions = new Map(order.map((each, position) => [each, position]))
    const positionOf = (track: { mediaId: number }) => positions.get(track.mediaId) ?? order.length
    return changePlaylist(request, services, 'tracks', async (tx, { id }) => {
      const tracks = await tx<{ id: number; mediaId: number }[]>`
        select id, media_id as "mediaId" from playlist_tracks where playlist_id = ${id} order by position, id`
      const known = new Set(tracks.map(track => track.mediaId))
      assertNoProblems(findUnknown(order, known, 'order.', 'is not a song of the playlist.'))
      const sortedIds = tracks.toSorted((a, b) => positionOf(a) - positionOf(b)).map(track => track.id)
      await tx`
        update playlist_tracks t set position = x.position
        from unnest(${sortedIds}::bigint[]) with ordinality as x (id, position)
        where x.id = t.id and t.position <> x.position`
      return 'Changes saved successfully.'
    })
  }
})

export const playlistActionRoutes = [toggle, reshuffle, empty, readOrder, writeOrder]
