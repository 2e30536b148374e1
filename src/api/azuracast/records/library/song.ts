import { renderAzuracastSongText } from '../../../../model/station/now-playing.ts'
import type { Sql } from '../../../../stores/db/sql.ts'
import type { RecordDialect } from '../../record-dialect.ts'

export type SongRow = {
  readonly custom_fields: readonly string[]
  readonly artist: string
  readonly album: string
  readonly title: string
}

/** Returns a function that renders songs: their text, and their custom fields by short name, null if unset. */
export async function openSongRenderer(sql: Sql) {
  const fields = await sql<{ name: string }[]>`select short_name as name from custom_fields order by id`
  return <Song extends SongRow>(song: Song) => ({
    ...song,
    text: renderAzuracastSongText(song),
    // PHP encodes a map without members as a list.
    custom_fields:
      fields.length === 0
        ? []
        : Object.fromEntries(fields.map(({ name }, index) => [name, song.custom_fields[index] || null]))
  })
}

export type SongRenderer = Awaited<ReturnType<typeof openSongRenderer>>

export type RecordWithSong = { readonly song: SongRow }

/** A record whose only difference is its song. */
export const recordWithSongDialect: RecordDialect<RecordWithSong> = {
  async render(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    return rows.map(row => ({ ...row, song: renderSong(row.song) }))
  }
}
