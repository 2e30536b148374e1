import { asDocumented, changeRecord, shown } from '../../declare-record.ts'
import { orNullSchema } from '../../response-schema.ts'
import { openSongRenderer, type RenderSong, type SongRow } from './song.ts'

type QueueRow = {
  readonly song: SongRow
  readonly links: { readonly self: string }
  readonly autodj_custom_uri: string
  readonly log: readonly unknown[]
}

export const queueItem = changeRecord<QueueRow, RenderSong>({
  emptyAsNull: ['autodj_custom_uri'],
  members: {
    song: shown(asDocumented, ({ song }, { extras: renderSong }) => renderSong(song)),
    log: shown(orNullSchema, ({ log }) => (log.length === 0 ? null : log))
  },
  read: (_, { sql }) => openSongRenderer(sql)
})
