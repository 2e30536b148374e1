import type { ScheduleItem } from '../../../../model/autodj/schedule.ts'
import { arrayOf, int64, string } from '../../../core/schemas.ts'
import { declareChangedRecord, computedMember, constantMember, shownMember } from '../../declare-record.ts'
import type { DialectContext } from '../../record-dialect.ts'
import { linksSchema, nullSchema, nullableIsoTime } from '../../response-schema.ts'
import { toIsoTime } from '../people/broadcast.ts'
import { deriveAzuracastName } from './derived-name.ts'
import { azuracastScheduleItemSchema, renderAzuracastScheduleItem } from './schedule-item.ts'

type PlaylistRow = {
  readonly id: number
  readonly name: string
  readonly source: string
  readonly order: string
  readonly remote_url: string
  readonly backend_options: string
  readonly schedule_items: readonly ScheduleItem[]
}

export const playlistDialect = declareChangedRecord<PlaylistRow, Totals>({
  emptyAsNull: ['remote_url'],
  members: {
    station_id: computedMember(int64, (_, { stationId }) => stationId),
    short_name: computedMember(string, ({ name }) => deriveAzuracastShortName(name)),
    description: constantMember(nullSchema, null),
    // Without options one that is empty, as AzuraCast.
    backend_options: shownMember(arrayOf(string), row => row.backend_options.split(',')),
    schedule_items: shownMember(arrayOf(azuracastScheduleItemSchema), row =>
      row.schedule_items.map(renderAzuracastScheduleItem)
    ),
    played_at: computedMember(nullableIsoTime, ({ id }, { extras }) => toTime(extras.get(id)?.playedAtMs)),
    // A random order has no passes.
    queue_reset_at: computedMember(nullableIsoTime, ({ id, order }, { extras }) =>
      order === 'random' ? null : toTime(extras.get(id)?.passSinceMs)
    ),
    num_songs: computedMember(int64, ({ id }, { extras }) => extras.get(id)?.songs ?? 0),
    total_length: computedMember(int64, ({ id }, { extras }) => extras.get(id)?.seconds ?? 0),
    links: computedMember(linksSchema, (row, { stationLink }) =>
      linksOf(row, path => stationLink(`playlist/${row.id}${path}`))
    )
  },
  read: readTotals,
  parse: body => ({
    ...body,
    ...('play_per_hour_minute' in body && { play_per_hour_minute: minuteOf(body) })
  })
})

const toTime = (ms: number | null | undefined) => (ms ? toIsoTime(Math.floor(ms / 1000)) : null)

/** A short name as AzuraCast derives it, which is never a number. */
export function deriveAzuracastShortName(name: string): string {
  const short = deriveAzuracastName(name)
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

type Totals = ReadonlyMap<number, Omit<PlaylistTotals, 'id'>>

async function readTotals(rows: readonly PlaylistRow[], { sql }: DialectContext): Promise<Totals> {
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
