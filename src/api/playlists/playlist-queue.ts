import { startNewPass } from '../../engine/queue/plan-statements.ts'
import { columnValueAt } from '../../model/autodj/track-columns.ts'
import { listRestOfPass } from '../../model/autodj/track-pools.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { readPlaylists } from '../../stores/db/library/library.ts'
import {
  pageQueryParameters,
  toLimitAndOffset,
  parsePageQuery,
  listResponseSchema,
  renderListReply
} from '../core/list.ts'
import { parsePathId } from '../core/parse.ts'
import { apiRoute, getRequestStation } from '../core/route.ts'
import { exactObject, int64, namedSchema, nullableInt64, string } from '../core/schemas.ts'
import { changePlaylist, playlistPath, playlistActionRoute, auditChangedTracks } from './playlist-actions.ts'

const playlistQueueSchema = namedSchema(
  'PlaylistQueueItem',
  'A song that is next in a playlist.',
  exactObject({
    spm_id: { ...int64, description: 'The id of the entry.' },
    media_id: int64,
    song_id: string,
    artist: string,
    title: string,
    last_played: { ...nullableInt64, description: 'Unix seconds; null: not from this playlist.' }
  })
)

interface NextEntry {
  readonly spm_id: number
  readonly media_id: number
  readonly song_id: string
  readonly artist: string
  readonly title: string
  readonly last_played: number | null
}

const readQueue = apiRoute('GET', `${playlistPath}/queue`, 'view station management', {
  id: 'listPlaylistQueue',
  tag: 'Playlists',
  summary: 'The songs that a playlist has left in its pass, in order',
  query: pageQueryParameters,
  response: listResponseSchema(playlistQueueSchema),
  errors: [409],
  async handle(request, { reads: sql, config }) {
    const { id: stationId } = getRequestStation(request)
    const id = parsePathId(request.params['id'])
    const [[playlist], [settings], rowsBefore] = await Promise.all([
      readPlaylists(sql, [stationId], { only: [id], hasInactive: true }).then(
        found => found.get(stationId) ?? []
      ),
      sql<{ seed: number }[]>`select random_seed as seed from stations where id = ${stationId}`,
      sql<{ playlistId: number | null; trackId: number | null; pass: number }[]>`
        select playlist_id as "playlistId", track_id as "trackId", pass from queue
        where station_id = ${stationId} and played_at_ms is null and skipped_at_ms is null`
    ])
    if (!playlist || !settings) throw new ApiError('not-found')
    if (playlist.source !== 'songs')
      throw new ApiError('conflict', 'The playlist has no songs of the library.')
    if (playlist.order === 'random')
      throw new ApiError('conflict', 'The order of a random playlist is not planned.')
    const page = { page: parsePageQuery(request), search: '', sort: null, isDescending: false }
    const { limit, offset } = toLimitAndOffset(page)
    const rest = listRestOfPass(playlist, { rowsBefore }, settings.seed)
    const ids = rest.slice(offset, offset + limit).map(index => columnValueAt(playlist.tracks.ids, index))
    const rows = await sql<NextEntry[]>`
      select t.id as spm_id, m.id as media_id, m.song_id, m.artist, m.title, t.last_aired_ms / 1000 as last_played
      from unnest(${ids}::bigint[]) with ordinality as x (id, place) join playlist_entries t on t.id = x.id
        join media m on m.id = t.media_id
      order by x.place`
    const elements = rows.length === 0 ? [] : [Buffer.from(JSON.stringify(rows).slice(1, -1))]
    return renderListReply({ elements, total: rest.length }, page, request, config.BASE_URL)
  }
})

const clearQueue = playlistActionRoute('DELETE', 'queue', {
  id: 'clearPlaylistQueue',
  summary: 'Start a new pass through the songs',
  handle: (request, services) =>
    changePlaylist(request, services, auditChangedTracks, async (tx, { id }) => {
      await startNewPass(tx, id)
      return 'Playlist queue cleared.'
    })
})

export const playlistQueueRoutes = [readQueue, clearQueue]
