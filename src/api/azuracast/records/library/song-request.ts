import { boolean, int64, string } from '../../../core/schemas.ts'
import { isoTime, nullableIsoTime, phpMapSchema, replaceSchema } from '../../answer-schema.ts'
import type { OperationDialect, RecordDialect } from '../../record-dialect.ts'
import { toIsoTime } from '../people/broadcast.ts'
import { artVersion } from './art-version.ts'
import { openSongRenderer, type SongRow } from './song.ts'

type RequestRow = {
  readonly id: number
  readonly timestamp: number
  readonly skip_delay: boolean
  readonly played_at: number
  readonly media_id: number
  readonly ip: string
  readonly song: SongRow
}

/** A request in the reports. */
export const songRequest: RecordDialect<RequestRow> = {
  answer: replaceSchema({
    id: int64,
    timestamp: isoTime,
    skip_delay: boolean,
    ip: string,
    played_at: nullableIsoTime,
    track: {
      type: 'object',
      properties: { id: int64, song_id: string, text: string, artist: string, title: string, art: string },
      required: ['id', 'song_id', 'text', 'artist', 'title', 'art']
    },
    links: phpMapSchema
  }),
  async render(rows, { sql, stationLink }) {
    const renderSong = await openSongRenderer(sql)
    const found = await sql<TrackFacts[]>`
      select id, unique_id, path, round(duration_ms / 1000.0)::int as length, modified_ms / 1000 as mtime,
        floor(extract(epoch from created_at))::int as uploaded_at, artwork_hash as "artHash"
      from media where id = any(${rows.map(row => row.media_id)}::bigint[])`
    const tracks = new Map(found.map(track => [track.id, track]))
    return rows.map(row => ({
      id: row.id,
      timestamp: toIsoTime(row.timestamp),
      skip_delay: row.skip_delay,
      ip: row.ip,
      played_at: row.played_at === 0 ? null : toIsoTime(row.played_at),
      track: {
        ...renderSong(row.song),
        ...renderTrack(tracks.get(row.media_id)),
        id: row.media_id,
        song_id: Reflect.get(row.song, 'id')
      },
      links: row.played_at === 0 ? { delete: stationLink(`reports/requests/${row.id}`) } : []
    }))
  }
}

interface TrackFacts {
  readonly id: number
  readonly unique_id: string
  readonly path: string
  readonly length: number
  readonly mtime: number
  readonly uploaded_at: number
  readonly artHash: string | null
}

/** The members of a file; none if it was deleted meanwhile. */
function renderTrack(facts: TrackFacts | undefined): object {
  if (facts === undefined) return {}
  const { artHash, ...track } = facts
  return { ...track, art_updated_at: artVersion(artHash) }
}

/** Every type but `history` lists what was not played yet. */
export const listRequests: OperationDialect = {
  query: query => query.get('type') !== 'history' && query.delete('type')
}
