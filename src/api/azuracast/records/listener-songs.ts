import type { Sql } from '../../../db/sql.ts'
import type { RecordDialect } from '../record-dialect.ts'
import { openSongRenderer } from './song.ts'

type SongRow = { readonly custom_fields: readonly string[] }

/** A song that listeners may request. It is named by its unique id. */
export const requestableSong: RecordDialect<{
  readonly request_id: string
  readonly request_url: string
  readonly song: SongRow
}> = {
  async render(rows, { sql }) {
    const [renderSong, uniqueIds] = await Promise.all([
      openSongRenderer(sql),
      readUniqueIds(
        sql,
        rows.map(row => row.request_id)
      )
    ])
    return rows.map(row => {
      const uniqueId = uniqueIds.get(row.request_id) ?? row.request_id
      const url = row.request_url.replace(/[^/]+$/, uniqueId)
      return { request_id: uniqueId, request_url: url, song: renderSong(row.song) }
    })
  }
}

/** A song that is available on demand. */
export const onDemandSong: RecordDialect<{
  readonly track_id: string
  readonly media: SongRow
  readonly download_url: string
}> = {
  async render(rows, { sql }) {
    const [renderSong, uniqueIds] = await Promise.all([
      openSongRenderer(sql),
      readUniqueIds(
        sql,
        rows.map(row => row.track_id)
      )
    ])
    return rows.map(row => {
      const uniqueId = uniqueIds.get(row.track_id) ?? row.track_id
      const url = row.download_url.replace(/[^/]+$/, uniqueId)
      return { track_id: uniqueId, media: renderSong(row.media), download_url: url }
    })
  }
}

async function readUniqueIds(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await sql<{ id: number; uniqueId: string }[]>`
    select id, unique_id as "uniqueId" from media where id = any(${[...ids]}::bigint[])`
  return new Map(found.map(({ id, uniqueId }) => [String(id), uniqueId]))
}
