import * as v from 'valibot'

import type { Tx } from '../../db/sql.ts'
import { integer, problem } from '../../fields/field.ts'
import { changeStation } from '../../playout/change-station.ts'
import { startNewPass } from '../../playout/queue/passes.ts'
import { refillQueue } from '../../playout/queue/queue.ts'
import { ApiError } from '../../runtime/errors.ts'
import { redactedLocation } from '../../webhooks/redact.ts'
import { maySeeWholeAddresses } from '../auth/access.ts'
import { recordAudit } from '../core/audit.ts'
import { parseBody, parseId } from '../core/parse.ts'
import { actionResult, type ApiRequest, type ApiRoute, json, stationOf } from '../core/route.ts'
import type { ApiServices } from '../core/services.ts'

const done = { $ref: '#/components/schemas/ActionResult' }
const tracksAtMost = 100_000

interface Playlist {
  readonly id: number
  readonly isEnabled: boolean
  readonly order: string
}

/** One change of a playlist with what follows from it: the queue is brought in line and shown. */
async function change(
  request: ApiRequest,
  services: ApiServices,
  fields: readonly string[],
  write: (tx: Tx, playlist: Playlist) => Promise<string>
) {
  const station = stationOf(request)
  const id = parseId(request.params['id'])
  const message = await changeStation(services, station.id, async stationChange => {
    const { tx } = stationChange
    const [playlist] = await tx<Playlist[]>`
      select id, is_enabled as "isEnabled", "order" from playlists
      where id = ${id} and station_id = ${station.id} for update`
    if (!playlist) throw new ApiError('not-found')
    const told = await write(tx, playlist)
    await refillQueue(stationChange)
    await recordAudit(tx, request, { record: 'Playlist', id, fields: [...fields] })
    return told
  })
  return actionResult(message)
}

const toggle: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/playlist/:id/toggle',
  access: 'manage station media',
  operation: {
    id: 'togglePlaylist',
    tag: 'Playlists',
    summary: 'Enable a disabled playlist, disable an enabled one; the queue follows at once',
    answer: done
  },
  handle: (request, services) =>
    change(request, services, ['is_enabled'], async (tx, { id, isEnabled }) => {
      await tx`update playlists set is_enabled = ${!isEnabled} where id = ${id}`
      return isEnabled ? 'Playlist disabled.' : 'Playlist enabled.'
    })
}

const reshuffle: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/playlist/:id/reshuffle',
  access: 'manage station media',
  operation: {
    id: 'reshufflePlaylist',
    tag: 'Playlists',
    summary: 'Begin a new run through all songs of a playlist, in another order if it is shuffled',
    answer: done
  },
  handle: (request, services) =>
    change(request, services, ['tracks'], async (tx, { id }) => {
      await startNewPass(tx, stationOf(request).id, id)
      return 'Playlist reshuffled.'
    })
}

const empty: ApiRoute = {
  method: 'DELETE',
  path: '/api/station/:station_id/playlist/:id/empty',
  access: 'manage station media',
  operation: {
    id: 'emptyPlaylist',
    tag: 'Playlists',
    summary: 'Take all songs out of a playlist; they stay in the library',
    answer: done
  },
  handle: (request, services) =>
    change(request, services, ['tracks'], async (tx, { id }) => {
      await tx`
        delete from playlist_tracks t using media m
        where t.playlist_id = ${id} and m.id = t.media_id and m.remote_playlist_id is null`
      return 'Playlist emptied.'
    })
}

const entry = {
  type: 'object',
  properties: {
    media_id: { type: 'integer', format: 'int64' },
    position: { type: 'integer' },
    path: { type: 'string' },
    artist: { type: 'string' },
    title: { type: 'string' },
    length: { type: 'integer', description: 'Seconds.' }
  },
  required: ['media_id', 'position', 'path', 'artist', 'title', 'length'],
  additionalProperties: false
}

const readOrder: ApiRoute = {
  method: 'GET',
  path: '/api/station/:station_id/playlist/:id/order',
  access: 'view station management',
  operation: {
    id: 'getPlaylistOrder',
    tag: 'Playlists',
    summary: 'The songs of a playlist in their order',
    answer: { type: 'array', items: entry }
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
        order by t.position, t.id limit ${tracksAtMost}`
    const isWhole = maySeeWholeAddresses(request.caller?.key ?? null, 'manage station media', station.id)
    return json(isWhole ? songs : songs.map(song => ({ ...song, path: redactedLocation(song.path) })))
  }
}

const id = integer({ min: 1, max: Number.MAX_SAFE_INTEGER, about: 'id' })
const order = v.pipe(
  v.object(
    {
      order: v.pipe(
        v.unknown(),
        v.check(Array.isArray, problem('invalid_type', 'must be a list.')),
        v.check(
          list => Array.isArray(list) && list.length <= tracksAtMost,
          problem('too_long', `must have at most ${tracksAtMost} elements.`)
        ),
        v.array(id.input),
        v.check(list => new Set(list).size === list.length, problem('duplicate', 'names a song twice.'))
      )
    },
    problem('invalid_type', 'must be an object.')
  )
)

const writeOrder: ApiRoute = {
  method: 'PUT',
  path: '/api/station/:station_id/playlist/:id/order',
  access: 'manage station media',
  operation: {
    id: 'reorderPlaylist',
    tag: 'Playlists',
    summary: 'Put the songs of a playlist in order; those that are not named follow behind, as they were',
    body: {
      type: 'object',
      properties: { order: { type: 'array', items: id.schema, maxItems: tracksAtMost } },
      required: ['order'],
      examples: [{ order: [12, 7, 9] }]
    },
    answer: done
  },
  handle(request, services) {
    const { order: wanted } = parseBody(order, request.body)
    return change(request, services, ['tracks'], async (tx, { id: playlistId }) => {
      const tracks = await tx<{ id: number; mediaId: number }[]>`
        select id, media_id as "mediaId" from playlist_tracks where playlist_id = ${playlistId} order by position, id`
      const ids = new Set(tracks.map(({ mediaId }) => mediaId))
      const [first, ...others] = wanted.flatMap((each, index) => {
        const field = `order.${index}`
        return ids.has(each)
          ? []
          : [{ field, code: 'not_found', message: `${field} is no song of the playlist.` }]
      })
      if (first) throw ApiError.ofFields([first, ...others])
      const places = new Map(wanted.map((mediaId, place) => [mediaId, place]))
      const placeOf = ({ mediaId }: { mediaId: number }) => places.get(mediaId) ?? wanted.length
      const inOrder = tracks.toSorted((a, b) => placeOf(a) - placeOf(b)).map(each => each.id)
      await tx`
        update playlist_tracks t set position = x.position
        from unnest(${inOrder}::bigint[]) with ordinality as x (id, position)
        where x.id = t.id and t.position <> x.position`
      return 'Changes saved successfully.'
    })
  }
}

export const playlistActionRoutes = [toggle, reshuffle, empty, readOrder, writeOrder]
