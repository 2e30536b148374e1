import { changeSchema } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'
import { openSongRenderer, type SongRow } from './song.ts'

type QueueRow = {
  readonly song: SongRow
  readonly links: { readonly self: string }
  readonly autodj_custom_uri: string
  readonly log: readonly unknown[]
}

export const queueItem: RecordDialect<QueueRow> = {
  answer: changeSchema({ nullable: ['autodj_custom_uri', 'log'] }),
  async render(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    return rows.map(row => ({
      ...row,
      song: renderSong(row.song),
      autodj_custom_uri: orNull(row.autodj_custom_uri),
      log: row.log.length === 0 ? null : row.log
    }))
  }
}
