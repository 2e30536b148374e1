import type { CuePoints } from '../../../../model/songs/cue-points.ts'
import { renderAzuracastSongText } from '../../../../model/station/now-playing.ts'
import { cuesFragment } from '../../../../stores/db/library/cue-columns.ts'
import type { Sql } from '../../../../stores/db/sql.ts'
import { parsePathId } from '../../../core/parse.ts'
import { arrayOf, boolean, exactObject, int64, string } from '../../../core/schemas.ts'
import { toExtraMetadata } from '../../../library/extra-metadata.ts'
import { isJsonBody, type OperationDialect, emptyToNull } from '../../record-dialect.ts'
import { nullableString } from '../../response-schema.ts'
import { computeArtVersion } from './art-version.ts'

interface OrderedSong {
  readonly spm_id: number
  readonly media_id: number
  readonly position: number
  readonly path: string
  readonly artist: string
  readonly title: string
  readonly length: number
}

/**
 * The first entry of a song has the id of the song, as it had before songs could be repeated. The others have their own
 * ids below 0, where no song has its id.
 */
export const getPlaylistOrderDialect: OperationDialect<readonly OrderedSong[]> = {
  response: () =>
    arrayOf(
      exactObject({
        id: int64,
        weight: int64,
        is_queued: boolean,
        last_played: int64,
        media: exactObject({
          id: int64,
          unique_id: string,
          song_id: string,
          path: string,
          artist: string,
          title: string,
          length: int64,
          text: string,
          album: nullableString,
          genre: nullableString,
          isrc: nullableString,
          mtime: int64,
          uploaded_at: int64,
          art_updated_at: int64,
          extra_metadata_raw: { type: ['object', 'null'] },
          links: exactObject({ play: string })
        })
      })
    ),
  async reply(songs, { sql, request, stationLink }) {
    const extras = await readExtras(sql, Number(request.params['id']))
    return songs.flatMap(({ spm_id: entryId, media_id: id, path, artist, title, length }) => {
      const found = extras.get(entryId)
      // It was removed meanwhile.
      if (!found) return []
      const { isRepeat, weight, isQueued, lastPlayed, artHash, cues, ...media } = found
      return {
        id: isRepeat ? -entryId : id,
        weight,
        is_queued: isQueued,
        last_played: lastPlayed,
        media: {
          id,
          ...media,
          path,
          artist,
          title,
          length,
          text: renderAzuracastSongText({ artist, title, album: media.album }),
          album: emptyToNull(media.album),
          genre: emptyToNull(media.genre),
          isrc: emptyToNull(media.isrc),
          art_updated_at: computeArtVersion(artHash),
          extra_metadata_raw: omitUnset(toExtraMetadata(cues)),
          links: { play: stationLink(`file/${media.unique_id}/play`) }
        }
      }
    })
  }
}

/** AzuraCast stores what is set; null if nothing is. */
function omitUnset(metadata: object): object | null {
  const set = Object.entries(metadata).filter(([, value]) => value !== null)
  return set.length === 0 ? null : Object.fromEntries(set)
}

interface OrderExtras {
  readonly isRepeat: boolean
  readonly weight: number
  readonly isQueued: boolean
  readonly lastPlayed: number
  readonly artHash: string | null
  readonly cues: CuePoints
  readonly unique_id: string
  readonly song_id: string
  readonly album: string
  readonly genre: string
  readonly isrc: string
  readonly mtime: number
  readonly uploaded_at: number
}

/** Lyrics are left out: a playlist may have 100,000 songs. */
async function readExtras(sql: Sql, playlistId: number): Promise<Map<number, OrderExtras>> {
  const found = await sql<({ id: number } & OrderExtras)[]>`
    select t.id, t.is_repeat as "isRepeat", t.position as weight, t.last_pass < p.pass as "isQueued", coalesce(t.last_aired_ms, 0) / 1000 as "lastPlayed",
      m.artwork_hash as "artHash", ${cuesFragment(sql)} as cues, m.unique_id, m.song_id, m.album, m.genre, m.isrc,
      m.modified_ms / 1000 as mtime, floor(extract(epoch from m.created_at))::int as uploaded_at
    from playlist_entries t join media m on m.id = t.media_id join playlists p on p.id = t.playlist_id
    where p.id = ${playlistId}`
  return new Map(found.map(({ id, ...extras }) => [id, extras]))
}

/** AzuraCast takes the position of each entry, and answers them. */
export const reorderPlaylistDialect: OperationDialect = {
  response: () => ({ description: 'The order that was sent.', type: ['array', 'object', 'null'], items: {} }),
  async parse(body, { sql, request }) {
    const { order } = body
    if (!isJsonBody(order)) return body
    const sorted = Object.entries(order)
      .toSorted(([, a], [, b]) => Number(a) - Number(b))
      .map(([id]) => id)
    const repeated = sorted.filter(id => /^-\d{1,15}$/.test(id)).map(id => -Number(id))
    if (repeated.length === 0) return { ...body, order: sorted }
    const songs = await sql<{ id: number; mediaId: number }[]>`
      select id, media_id as "mediaId" from playlist_entries
      where id = any(${repeated}::bigint[]) and playlist_id = ${parsePathId(request.params['id'])}`
    const songOf = new Map(songs.map(({ id, mediaId }) => [String(-id), String(mediaId)]))
    return { ...body, order: sorted.map(id => songOf.get(id) ?? id) }
  },
  reply: (_, { request: { body } }) => (isJsonBody(body) ? body['order'] : null)
}
