import { keepDocumentedSchema, declareChangedRecord, shownMember } from '../../declare-record.ts'
import { toNullableSchema } from '../../response-schema.ts'
import { openSongRenderer, type SongRenderer, type SongRow } from './song.ts'

type QueueRow = {
  readonly song: SongRow
  readonly links: { readonly self: string }
  readonly autodj_custom_uri: string
  readonly log: readonly unknown[]
}

export const queueItemDialect = declareChangedRecord<QueueRow, SongRenderer>({
  emptyAsNull: ['autodj_custom_uri'],
  members: {
    song: shownMember(keepDocumentedSchema, ({ song }, { extras: renderSong }) => renderSong(song)),
    log: shownMember(toNullableSchema, ({ log }) => (log.length === 0 ? null : log))
  },
  read: (_, { sql }) => openSongRenderer(sql)
})
