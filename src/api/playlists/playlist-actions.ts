import type { StationChange } from '../../engine/change-station.ts'
import { startNewPass } from '../../engine/queue/plan-statements.ts'
import { refillQueue } from '../../engine/queue/queue.ts'
import type { Reply } from '../../http/route.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { syncFolderSongs } from '../../stores/db/library/playlist-folders.ts'
import type { Tx } from '../../stores/db/sql.ts'
import { runStationAction } from '../core/actions.ts'
import { type AuditedChanges, changedWithoutValues } from '../core/audit.ts'
import { parsePathId } from '../core/parse.ts'
import {
  actionReply,
  type ApiRequest,
  type ApiRoute,
  apiRoute,
  type ApiOperation,
  getRequestStation
} from '../core/route.ts'
import { schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'

/** The path of a playlist. */
export const playlistPath = '/api/station/:station_id/playlist/:id'

interface Playlist {
  readonly id: number
  readonly name: string
  readonly isEnabled: boolean
}

/**
 * Changes a playlist of the station and refills the queue. `change` returns the message of the response, and
 * `describe` what the audit log says.
 */
export function changePlaylist(
  request: ApiRequest,
  services: ApiServices,
  describe: (playlist: Playlist) => AuditedChanges,
  change: (tx: Tx, playlist: Playlist, stationChange: StationChange) => Promise<string>
): Promise<Reply> {
  const { id: stationId } = getRequestStation(request)
  const id = parsePathId(request.params['id'])
  return runStationAction(request, services, async stationChange => {
    const { tx } = stationChange
    const [playlist] = await tx<Playlist[]>`
      select id, name, is_enabled as "isEnabled" from playlists
      where id = ${id} and station_id = ${stationId} for no key update`
    if (!playlist) throw new ApiError('not-found')
    const message = await change(tx, playlist, stationChange)
    await refillQueue(stationChange)
    return {
      audit: [{ record: 'Playlist', id, name: playlist.name, changes: describe(playlist) }],
      reply: actionReply(message)
    }
  })
}

/** What the audit log says about a change of the entries of a playlist, which may be many. */
export const auditChangedTracks = () => changedWithoutValues('tracks')

/** A route that changes a playlist. */
export const playlistActionRoute = (
  method: ApiRoute['method'],
  name: string,
  declared: Pick<ApiOperation, 'id' | 'summary' | 'body' | 'errors'> &
    Pick<ApiRoute, 'handle' | 'maxBodyValues'>
) =>
  apiRoute(method, `${playlistPath}/${name}`, 'manage station media', {
    tag: 'Playlists',
    response: schemaRef('ActionResult'),
    ...declared
  })

const toggle = playlistActionRoute('PUT', 'toggle', {
  id: 'togglePlaylist',
  summary: 'Enable or disable a playlist; the queue is refilled',
  handle: (request, services) =>
    changePlaylist(
      request,
      services,
      ({ isEnabled }) => ({ is_enabled: { from: isEnabled, to: !isEnabled } }),
      async (tx, { id, isEnabled }) => {
        await tx`update playlists set is_enabled = ${!isEnabled} where id = ${id}`
        return isEnabled ? 'Playlist disabled.' : 'Playlist enabled.'
      }
    )
})

const reshuffle = playlistActionRoute('PUT', 'reshuffle', {
  id: 'reshufflePlaylist',
  summary: 'Start a new pass through the songs, in a new order if shuffled',
  handle: (request, services) =>
    changePlaylist(request, services, auditChangedTracks, async (tx, { id }) => {
      await startNewPass(tx, id)
      return 'Playlist reshuffled.'
    })
})

const empty = playlistActionRoute('DELETE', 'empty', {
  id: 'emptyPlaylist',
  summary: 'Remove all songs from a playlist, except those of its folders; they remain in the library',
  handle: (request, services) =>
    changePlaylist(request, services, auditChangedTracks, async (tx, { id }, { station }) => {
      await tx`
        delete from playlist_tracks t using media m
        where t.playlist_id = ${id} and m.id = t.media_id and m.remote_playlist_id is null and not t.is_from_folder`
      await syncFolderSongs(tx, { stationId: station.id, playlistId: id })
      const [kept] =
        await tx`select from playlist_tracks where playlist_id = ${id} and is_from_folder limit 1`
      return kept ? 'Playlist emptied, except for the songs of its folders.' : 'Playlist emptied.'
    })
})

export const playlistActionRoutes = [toggle, reshuffle, empty]
