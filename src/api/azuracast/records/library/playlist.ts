import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import type { Sql } from '../../../../stores/db/sql.ts'
import { arrayOf, int64, string } from '../../../core/schemas.ts'
import { changeSchema, links, nothing, nullableIsoTime } from '../../answer-schema.ts'
import { orNull, type RecordDialect } from '../../record-dialect.ts'
import { toIsoTime } from '../people/broadcast.ts'
import { derivedName } from './derived-name.ts'
import { azuracastScheduleItemSchema, renderScheduleItem } from './schedule-item.ts'

type PlaylistRow = {
  readonly id: number
  readonly name: string
  readonly source: string
  readonly order: string
  readonly remote_url: string
  readonly backend_options: string
  readonly schedule_items: readonly ScheduleItem[]
}

export const playlist: RecordDialect<PlaylistRow> = {
  answer: changeSchema({
    nullable: ['remote_url'],
    fields: {
      station_id: int64,
      short_name: string,
      description: nothing,
      backend_options: arrayOf(string),
      schedule_items: arrayOf(azuracastScheduleItemSchema),
      played_at: nullableIsoTime,
      queue_reset_at: nullableIsoTime,
      num_songs: int64,
      total_length: int64,
      links
    }
  }),
  computed: ['station_id', 'short_name', 'played_at', 'queue_reset_at', 'num_songs', 'total_length', 'links'],
  async render(rows, { sql, stationId, stationLink }) {
    const totals = await readTotals(sql, rows)
    return rows.map(row => ({
      ...row,
      station_id: stationId,
      short_name: shortNameOf(row.name),
      description: null,
      remote_url: orNull(row.remote_url),
      // Without options one that is empty, as AzuraCast.
      backend_options: row.backend_options.split(','),
      schedule_items: row.schedule_items.map(renderScheduleItem),
      played_at: toTime(totals.get(row.id)?.playedAtMs),
      // A random order has no passes.
      queue_reset_at: row.order === 'random' ? null : toTime(totals.get(row.id)?.passSinceMs),
      num_songs: totals.get(row.id)?.songs ?? 0,
      total_length: totals.get(row.id)?.seconds ?? 0,
      links: linksOf(row, path => stationLink(`playlist/${row.id}${path}`))
    }))
  },
  constants: () => ({ description: null }),
  parse: body => ({
    ...body,
    ...('play_per_hour_minute' in body && { play_per_hour_minute: minuteOf(body) })
  })
}

const toTime = (ms: number | null | undefined) => (ms ? toIsoTime(Math.floor(ms / 1000)) : null)

/** A short name as AzuraCast derives it, which is never a number. */
export function shortNameOf(name: string): string {
  const short = derivedName(name)
  const isNumber = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/.test(short)
  return isNumber ? `playlist_${short}` : short
}

/** A minute that does not exist is taken as 0. */
function minuteOf({ play_per_hour_minute: minute }: { readonly play_per_hour_minute?: unknown }): unknown {
  return typeof minute === 'number' && (minute < 0 || minute > 59) ? 0 : minute
}

interface PlaylistTotals {
  readonly id: number
  readonly songs: number
  readonly seconds: number
  /** When a song of it last played; null: never. */
  readonly playedAtMs: number | null
  /** The first play of the current pass; null: it is the first pass, or it has not begun. */
  readonly passSinceMs: number | null
}

async function readTotals(sql: Sql, rows: readonly PlaylistRow[]) {
  const found = await sql<PlaylistTotals[]>`
    select t.playlist_id as id, count(*)::int as songs, round(sum(m.duration_ms) / 1000.0)::int as seconds,
      max(t.last_aired_ms) as "playedAtMs",
      min(t.last_aired_ms) filter (where p.pass > 1 and t.last_pass = p.pass) as "passSinceMs"
    from playlist_entries t join media m on m.id = t.media_id join playlists p on p.id = t.playlist_id
    where t.playlist_id = any(${rows.map(({ id }) => id)}::bigint[]) group by t.playlist_id`
  return new Map(found.map(({ id, ...totals }) => [id, totals]))
}

function linksOf({ source, order }: PlaylistRow, link: (path: string) => string) {
  return {
    self: link(''),
    toggle: link('/toggle'),
    clone: link('/clone'),
    ...(source === 'songs' && {
      ...(order === 'sequential' && { order: link('/order') }),
      ...(order !== 'random' && { queue: link('/queue') }),
      import: link('/import'),
      reshuffle: link('/reshuffle'),
      applyto: link('/apply-to'),
      empty: link('/empty')
    }),
    export: { pls: link('/export/pls'), m3u: link('/export/m3u') }
  }
}
