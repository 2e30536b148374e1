import { openZone } from '../autodj/zone.ts'
import type { Fragment, Sql } from '../db/sql.ts'
import { type Cell, csvLine } from './csv.ts'
import type { HeavyRead } from './heavy-reads.ts'
import { localTime } from './local-time.ts'
import { playedSeconds } from './played.ts'
import type { StationRow } from './route.ts'

/** A file ends here: what comes after is found with `end`. */
export const csvRowsAtMost = 100_000

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

/** Plays of a station, at most 100,000, as a CSV file; times are local to the station. */
export async function historyCsv(
  sql: Sql,
  read: HeavyRead,
  station: StationRow,
  plays: Fragment
): Promise<Uint8Array> {
  const [settings] = await read.rows<{ timezone: string }>(
    sql`select timezone from stations where id = ${station.id}`
  )
  const zone = openZone(settings?.timezone ?? 'UTC')
  const columnsOfPlays = sql`
    select h.id, h.started_at_ms as "startedAtMs", ${playedSeconds(sql)} as duration, h.artist, h.title, h.album,
      h.isrc, h.playlist, h.streamer, h.is_request, h.is_visible, h.listeners_start, h.listeners_end,
      h.listeners_end - h.listeners_start as delta_total, h.delta_positive, h.delta_negative, h.listeners_peak,
      h.unique_listeners
    from (${plays}) h`
  const parts = [Buffer.from(csvLine(['sh_id', 'played_at', ...columns]))]
  for await (const some of read.batches<Row>(columnsOfPlays)) {
    const lines = some.map(row =>
      csvLine([row.id, localTime(zone, row.startedAtMs), ...columns.map(name => row[name])])
    )
    parts.push(Buffer.from(lines.join('')))
  }
  return Buffer.concat(parts)
}
