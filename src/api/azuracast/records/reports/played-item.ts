import { dayMs, formatDay } from '../../../../model/autodj/zone.ts'
import { engineTimeMs } from '../../../../platform/runtime/engine-time.ts'
import { type OperationDialect, omitMembers, type RecordDialect } from '../../record-dialect.ts'
import { openSongRenderer, type SongRow } from '../library/song.ts'

/** Statistics that AzuraCast does not show. */
const ownStatistics = ['delta_positive', 'delta_negative', 'listeners_peak', 'unique_listeners'] as const

type PlayedRow = Partial<Readonly<Record<(typeof ownStatistics)[number], number>>> & {
  readonly song: SongRow
}

/** A play of the history, always with the listeners at its start and end. */
export const playedItem: RecordDialect<PlayedRow> = {
  async render(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    return rows.map(row => ({ ...omitMembers(row, ownStatistics), song: renderSong(row.song) }))
  }
}

const defaultDays = 14

/** Without a period, AzuraCast lists the plays of the last two weeks. */
export const listHistory: OperationDialect = {
  query(query) {
    query.set('detailed', '1')
    const isUnset = ['start', 'end'].every(name => (query.get(name) ?? '') === '')
    if (isUnset) query.set('start', formatDay(Math.floor(engineTimeMs() / dayMs) - defaultDays))
  }
}
