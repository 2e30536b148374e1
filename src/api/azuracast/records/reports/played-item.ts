import { dayMs, formatDayNumber } from '../../../../model/autodj/time-zone.ts'
import { engineTimeMs } from '../../../../platform/runtime/engine-time.ts'
import { type HistoryTable, listPlays } from '../../../stations/history.ts'
import { type OperationDialect, omitMembers, type RecordDialect } from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'
import { openSongRenderer, type SongRow } from '../library/song.ts'

/** Statistics that AzuraCast does not show. */
const ownStatistics = ['delta_positive', 'delta_negative', 'listeners_peak', 'unique_listeners'] as const

type PlayedRow = Partial<Readonly<Record<(typeof ownStatistics)[number], number>>> & {
  readonly song: SongRow
}

/** A play of the history, always with the listeners at its start and end. */
export const playedItemDialect: RecordDialect<PlayedRow> = {
  response: schemaChanger({ omitted: ownStatistics }),
  async render(rows, { sql }) {
    const renderSong = await openSongRenderer(sql)
    return rows.map(row => ({ ...omitMembers(row, ownStatistics), song: renderSong(row.song) }))
  }
}

/** The file of the history. */
const table: HistoryTable = {
  names: ['Date', 'Time', 'Listeners', 'Delta', 'Track', 'Artist', 'Playlist', 'Streamer'],
  cells: (row, startedAt) => [
    startedAt.slice(0, 10),
    toTwelveHours(startedAt.slice(11, 16)),
    ...['listeners_start', 'delta_total', 'title', 'artist', 'playlist', 'streamer'].map(
      name => row[name] ?? ''
    )
  ]
}

/** `15:05` as `3:05pm`. */
function toTwelveHours(time: string): string {
  const hour = Number(time.slice(0, 2))
  return `${hour % 12 || 12}${time.slice(2)}${hour < 12 ? 'am' : 'pm'}`
}

const defaultDays = 14

/** Without a period, AzuraCast lists the plays of the last two weeks. */
export const listHistoryDialect: OperationDialect = {
  handle: (request, services) => listPlays(request, services, table),
  query(query) {
    query.set('detailed', '1')
    const isUnset = ['start', 'end'].every(name => (query.get(name) ?? '') === '')
    if (isUnset) query.set('start', formatDayNumber(Math.floor(engineTimeMs() / dayMs) - defaultDays))
  }
}
