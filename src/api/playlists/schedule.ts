import { type ScheduleItem, windowsBetween } from '../../autodj/schedule.ts'
import { openZone } from '../../autodj/zone.ts'
import type { Sql } from '../../db/sql.ts'
import { engineTimeMs } from '../../runtime/engine-time.ts'
import { TooManyRequests } from '../../runtime/errors.ts'
import { getVisibleStation, stationLookupOf } from '../auth/public-request.ts'
import { toLocalTime } from '../core/moments.ts'
import { parseQueryInteger } from '../core/parse.ts'
import { apiRoute, json } from '../core/route.ts'
import { openAddressBuckets } from '../core/token-buckets.ts'

const dayMs = 86_400_000
const maxDays = 31
const maxRows = 500

const requestLimits = openAddressBuckets(10, 100)

export const scheduleRoute = apiRoute('GET', '/api/station/:station_id/schedule', 'public', {
  id: 'listSchedule',
  tag: 'Schedule',
  summary: 'The periods in which scheduled playlists are active, those active now first',
  query: {
    days: { type: 'integer', minimum: 1, maximum: maxDays, description: 'Days to cover; default 7.' },
    now: { type: 'integer', description: 'Start of the range in Unix seconds; the default is now.' },
    rows: { type: 'integer', minimum: 1, maximum: maxRows, description: 'Maximum number; default 100.' }
  },
  answer: { type: 'array', items: { $ref: '#/components/schemas/ScheduleEntry' } },
  errors: [429],
  needsAddress: true,
  async handle(request, services) {
    const { publicReads: sql } = services
    const { stationId, profile } = await getVisibleStation(stationLookupOf(request), services)
    const wait = requestLimits.take(request.address)
    if (wait > 0) throw new TooManyRequests(wait)
    const nowSeconds = Math.floor(engineTimeMs() / 1_000)
    const days = parseQueryInteger(request.query, 'days', { least: 1, most: maxDays, fallback: 7 })
    const rows = parseQueryInteger(request.query, 'rows', { least: 1, most: maxRows, fallback: 100 })
    const fromMs =
      1_000 * parseQueryInteger(request.query, 'now', { least: 0, most: 9_999_999_999, fallback: nowSeconds })
    const station = { id: stationId, timezone: profile.timezone }
    const entries = await readScheduleEntries(sql, station, fromMs, fromMs + days * dayMs)
    return json(entries.slice(0, rows))
  }
})

/** Reads the periods of scheduled playlists between two times, those that began first first. */
export async function readScheduleEntries(
  sql: Sql,
  { id: stationId, timezone }: { readonly id: number; readonly timezone: string },
  fromMs: number,
  toMs: number
) {
  const playlists = await sql<{ id: number; name: string; items: ScheduleItem[] }[]>`
    select id, name, schedule_items as items from playlists
    where station_id = ${stationId} and is_enabled and type <> 'custom' and not is_jingle
      and jsonb_array_length(schedule_items) > 0
    order by id`
  const zone = openZone(timezone)
  return playlists
    .flatMap(({ id, name, items }) =>
      windowsBetween(zone, items, fromMs, toMs).map(window => ({ ...window, id, name }))
    )
    .toSorted((a, b) => a.startMs - b.startMs || a.id - b.id)
    .slice(0, maxRows)
    .map(({ item, name, startMs, endMs }) => ({
      id: item.id,
      type: 'playlist',
      name,
      title: name,
      description: `Playlist: ${name}`,
      start_timestamp: Math.floor(startMs / 1_000),
      start: toLocalTime(zone, startMs),
      end_timestamp: Math.floor(endMs / 1_000),
      end: toLocalTime(zone, endMs),
      is_now: startMs <= fromMs && fromMs < endMs
    }))
}
