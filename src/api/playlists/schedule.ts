import { type ScheduleItem, listWindowsBetween } from '../../model/autodj/schedule.ts'
import { getTimeZone, type TimeZone } from '../../model/autodj/time-zone.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { TooManyRequests } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { getVisibleStation, toStationLookup } from '../auth/public-request.ts'
import { formatLocalIsoTime } from '../core/moments.ts'
import { parseQueryInteger } from '../core/parse.ts'
import { type ApiRequest, apiRoute, jsonReply } from '../core/route.ts'
import { arrayOf, schemaRef } from '../core/schemas.ts'
import type { ApiServices } from '../core/services.ts'
import { openAddressTokenBuckets } from '../core/token-buckets.ts'

const dayMs = 86_400_000
const maxDays = 31
const maxRows = 500

const requestLimits = openAddressTokenBuckets(10, 100)

export const scheduleRoute = apiRoute('GET', '/api/station/:station_id/schedule', 'public', {
  id: 'listSchedule',
  tag: 'Schedule',
  summary: 'The periods in which scheduled playlists are active, those active now first',
  query: {
    days: { type: 'integer', minimum: 1, maximum: maxDays, description: 'Days to cover; default 7.' },
    now: { type: 'integer', description: 'Start of the range in Unix seconds; the default is now.' },
    rows: { type: 'integer', minimum: 1, maximum: maxRows, description: 'Maximum number; default 100.' }
  },
  responseRecord: 'ScheduleEntry',
  response: arrayOf(schemaRef('ScheduleEntry')),
  errors: [429],
  needsAddress: true,
  async handle(request, services) {
    const { publicReads: sql } = services
    const station = await getScheduledStation(request, services)
    const nowSeconds = Math.floor(engineTimeMs() / 1_000)
    const days = parseQueryInteger(request.query, 'days', { least: 1, most: maxDays, fallback: 7 })
    const rows = parseQueryInteger(request.query, 'rows', { least: 1, most: maxRows, fallback: 100 })
    const fromMs =
      1_000 * parseQueryInteger(request.query, 'now', { least: 0, most: 9_999_999_999, fallback: nowSeconds })
    const entries = await readScheduleEntries(sql, station, fromMs, fromMs + days * dayMs)
    return jsonReply(entries.slice(0, rows))
  }
})

/** A station and the zone of its schedule. */
export interface ScheduledStation {
  readonly id: number
  readonly timezone: string
}

/** Finds the station of a request for its schedule. Throws 404, or 429 after too many requests. */
export async function getScheduledStation(
  request: ApiRequest,
  services: ApiServices
): Promise<ScheduledStation> {
  const { stationId, profile } = await getVisibleStation(toStationLookup(request), services)
  const wait = requestLimits.take(request.address)
  if (wait > 0) throw new TooManyRequests(wait)
  return { id: stationId, timezone: profile.timezone }
}

/** A playlist or streamer with a schedule. */
export interface ScheduleHolder {
  readonly type: 'playlist' | 'streamer'
  readonly id: number
  readonly name: string
  readonly items: readonly ScheduleItem[]
}

/** Reads the scheduled playlists of a station that play. */
export const readScheduledPlaylists = (sql: Sql, stationId: number): Promise<readonly ScheduleHolder[]> =>
  sql<ScheduleHolder[]>`
    select 'playlist' as type, id, name, schedule_items as items from playlists
    where station_id = ${stationId} and is_enabled and type <> 'custom' and not is_jingle
      and jsonb_array_length(schedule_items) > 0
    order by id`

/** Reads the periods of scheduled playlists between two times, those that began first first. */
export const readScheduleEntries = async (
  sql: Sql,
  { id, timezone }: ScheduledStation,
  fromMs: number,
  toMs: number
) =>
  listScheduleEntries(getTimeZone(timezone), await readScheduledPlaylists(sql, id), {
    fromMs,
    toMs,
    nowMs: fromMs
  }).slice(0, maxRows)

const labels = { playlist: 'Playlist', streamer: 'Streamer' }

/** Lists the periods between two times, those that began first first, and says which are active at `nowMs`. */
export function listScheduleEntries(
  zone: TimeZone,
  scheduled: readonly ScheduleHolder[],
  { fromMs, toMs, nowMs }: { readonly fromMs: number; readonly toMs: number; readonly nowMs: number }
) {
  return scheduled
    .flatMap(({ type, id, name, items }) =>
      listWindowsBetween(zone, items, fromMs, toMs).map(window => ({ ...window, type, id, name }))
    )
    .toSorted((a, b) => a.startMs - b.startMs)
    .map(({ item, type, name, startMs, endMs }) => ({
      id: item.id,
      type,
      name,
      title: name,
      description: `${labels[type]}: ${name}`,
      start_timestamp: Math.floor(startMs / 1_000),
      start: formatLocalIsoTime(zone, startMs),
      end_timestamp: Math.floor(endMs / 1_000),
      end: formatLocalIsoTime(zone, endMs),
      is_now: startMs <= nowMs && nowMs < endMs
    }))
}
