import { openZone } from '../autodj/zone.ts'
import type { Fragment, Sql } from '../db/sql.ts'
import { type Cell, csvLine } from './csv.ts'
import { localTime } from './local-time.ts'
import { playedSeconds } from './played.ts'

/** A file ends here: what comes after is found with `end`. */
export const csvRowsAtMost = 100_000

/** So many rows are read and written before others get their turn. */
const rowsAtOnce = 500

/** After the id and the time. */
const columns = [
  'duration',
  'artist',
  'title',
  'album',
  'isrc',
  'playlist',
  'streamer',
  'is_request',
  'is_visible',
  'listeners_start',
  'listeners_end',
  'delta_total',
  'delta_positive',
  'delta_negative',
  'listeners_peak',
  'unique_listeners'
] as const

type Row = Readonly<Record<(typeof columns)[number], Cell>> & { id: number; startedAtMs: number }

/** The plays `h` that fit, newest first, as a CSV file; the times are those of the zone's clock. */
export async function historyCsv(sql: Sql, timezone: string, fits: Fragment): Promise<Uint8Array> {
  const zone = openZone(timezone)
  const rows = sql<Row[]>`
    select h.id, h.started_at_ms as "startedAtMs", ${playedSeconds(sql)} as duration, h.artist, h.title, h.album,
      h.isrc, h.playlist, h.streamer, h.is_request, h.is_visible, h.listeners_start, h.listeners_end,
      h.listeners_end - h.listeners_start as delta_total, h.delta_positive, h.delta_negative, h.listeners_peak,
      h.unique_listeners
    from song_history h where ${fits} order by h.started_at_ms desc, h.id desc limit ${csvRowsAtMost}`
  const parts = [Buffer.from(csvLine(['sh_id', 'played_at', ...columns]))]
  for await (const some of rows.cursor(rowsAtOnce)) {
    const lines = some.map(row =>
      csvLine([row.id, localTime(zone, row.startedAtMs), ...columns.map(name => row[name])])
    )
    parts.push(Buffer.from(lines.join('')))
  }
  return Buffer.concat(parts)
}
