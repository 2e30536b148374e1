import type { OperationDialect, RecordDialect } from '../record-dialect.ts'
import { toIsoTime } from './broadcast.ts'
import { openSongRenderer } from './song.ts'

type RequestRow = {
  readonly id: number
  readonly timestamp: number
  readonly skip_delay: boolean
  readonly played_at: number
  readonly media_id: number
  readonly ip: string
  readonly song: { readonly custom_fields: readonly string[] }
}

/** A request in the reports. */
export const songRequest: RecordDialect<RequestRow> = {
  async render(rows, { sql, stationLink }) {
    const renderSong = await openSongRenderer(sql)
    return rows.map(row => ({
      id: row.id,
      timestamp: toIsoTime(row.timestamp),
      skip_delay: row.skip_delay,
      ip: row.ip,
      played_at: row.played_at === 0 ? null : toIsoTime(row.played_at),
      track: { ...renderSong(row.song), id: row.media_id, song_id: Reflect.get(row.song, 'id') },
      links: row.played_at === 0 ? { delete: stationLink(`reports/requests/${row.id}`) } : []
    }))
  }
}

/** Every type but `history` lists what was not played yet. */
export const listRequests: OperationDialect = {
  query: query => query.get('type') !== 'history' && query.delete('type')
}
