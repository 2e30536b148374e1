import { boolean, int64, string } from '../../../core/schemas.ts'
import { declareReplacedRecord, shownMember } from '../../declare-record.ts'
import type { OperationDialect } from '../../record-dialect.ts'
import { isoTime, nullableIsoTime, phpMapSchema } from '../../response-schema.ts'
import { toIsoTime } from '../people/broadcast.ts'
import { computeArtVersion } from './art-version.ts'
import { openSongRenderer, type SongRenderer, type SongRow } from './song.ts'

type RequestRow = {
  readonly id: number
  readonly timestamp: number
  readonly skip_delay: boolean
  readonly played_at: number
  readonly media_id: number
  readonly ip: string
  readonly song: SongRow
}

interface RequestExtras {
  readonly renderSong: SongRenderer
  /** By the id of the song. */
  readonly tracks: ReadonlyMap<number, TrackExtras>
}

const trackSchema = {
  type: 'object',
  properties: { id: int64, song_id: string, text: string, artist: string, title: string, art: string },
  required: ['id', 'song_id', 'text', 'artist', 'title', 'art']
}

/** A request in the reports. */
export const songRequestDialect = declareReplacedRecord<RequestRow, RequestExtras>({
  members: {
    id: shownMember(int64, ({ id }) => id),
    timestamp: shownMember(isoTime, ({ timestamp }) => toIsoTime(timestamp)),
    skip_delay: shownMember(boolean, row => row.skip_delay),
    ip: shownMember(string, ({ ip }) => ip),
    played_at: shownMember(nullableIsoTime, row => (row.played_at === 0 ? null : toIsoTime(row.played_at))),
    track: shownMember(trackSchema, (row, { extras: { renderSong, tracks } }) => ({
      ...renderSong(row.song),
      ...renderTrack(tracks.get(row.media_id)),
      id: row.media_id,
      song_id: Reflect.get(row.song, 'id')
    })),
    links: shownMember(phpMapSchema, (row, { stationLink }) =>
      row.played_at === 0 ? { delete: stationLink(`reports/requests/${row.id}`) } : []
    )
  },
  async read(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    const found = await sql<TrackExtras[]>`
      select id, unique_id, path, round(duration_ms / 1000.0)::int as length, modified_ms / 1000 as mtime,
        floor(extract(epoch from created_at))::int as uploaded_at, artwork_hash as "artHash"
      from media where id = any(${rows.map(row => row.media_id)}::bigint[])`
    return { renderSong, tracks: new Map(found.map(track => [track.id, track])) }
  }
})

interface TrackExtras {
  readonly id: number
  readonly unique_id: string
  readonly path: string
  readonly length: number
  readonly mtime: number
  readonly uploaded_at: number
  readonly artHash: string | null
}

/** The members of a file; none if it was deleted meanwhile. */
function renderTrack(extras: TrackExtras | undefined): object {
  if (extras === undefined) return {}
  const { artHash, ...track } = extras
  return { ...track, art_updated_at: computeArtVersion(artHash) }
}

/** Every type but `history` lists what was not played yet. */
export const listRequestsDialect: OperationDialect = {
  query: query => query.get('type') !== 'history' && query.delete('type')
}
