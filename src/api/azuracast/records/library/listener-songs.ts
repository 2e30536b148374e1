import type { Sql } from '../../../../stores/db/sql.ts'
import type { RecordDialect } from '../../record-dialect.ts'
import { openSongRenderer, type SongRow } from './song.ts'

/** A song that listeners may request. It is named by its unique id. */
export const requestableSongDialect: RecordDialect<{
  readonly request_id: string
  readonly request_url: string
  readonly song: SongRow
}> = {
  async render(rows, { sql }) {
    const songs = await readSongs(sql, rows, row => ({
      id: row.request_id,
      url: row.request_url,
      song: row.song
    }))
    return songs.map(({ id, url, song }) => ({ request_id: id, request_url: url, song }))
  }
}

/** A song that is available on demand. */
export const onDemandSongDialect: RecordDialect<{
  readonly track_id: string
  readonly media: SongRow
  readonly download_url: string
}> = {
  async render(rows, { sql }) {
    const songs = await readSongs(sql, rows, row => ({
      id: row.track_id,
      url: row.download_url,
      song: row.media
    }))
    return songs.map(({ id, url, song }) => ({ track_id: id, media: song, download_url: url }))
  }
}

/** A song with its id, and an address that ends with the id. */
interface NamedSong {
  readonly id: string
  readonly url: string
  readonly song: SongRow
}

/** Renders songs, and replaces their ids by unique ids. */
async function readSongs<Row>(sql: Sql, rows: readonly Row[], toNamed: (row: Row) => NamedSong) {
  const named = rows.map(toNamed)
  const [renderSong, uniqueIds] = await Promise.all([
    openSongRenderer(sql),
    readUniqueIds(
      sql,
      named.map(({ id }) => id)
    )
  ])
  return named.map(({ id, url, song }) => {
    const uniqueId = uniqueIds.get(id) ?? id
    return { id: uniqueId, url: url.replace(/[^/]+$/, uniqueId), song: renderSong(song) }
  })
}

async function readUniqueIds(sql: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = await sql<{ id: number; uniqueId: string }[]>`
    select id, unique_id as "uniqueId" from media where id = any(${[...ids]}::bigint[])`
  return new Map(found.map(({ id, uniqueId }) => [String(id), uniqueId]))
}
