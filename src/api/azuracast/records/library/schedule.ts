import { getTimeZone } from '../../../../model/autodj/time-zone.ts'
import { engineTimeMs } from '../../../../platform/runtime/engine-time.ts'
import { refuseField } from '../../../../platform/runtime/errors.ts'
import { type Moment, parseMoment, momentStartMsFragment } from '../../../core/moments.ts'
import { parseQueryInteger } from '../../../core/parse.ts'
import { type ApiRequest, jsonReply } from '../../../core/route.ts'
import type { ApiServices } from '../../../core/services.ts'
import {
  listScheduleEntries,
  getScheduledStation,
  readScheduledPlaylists,
  type ScheduleHolder,
  type ScheduledStation
} from '../../../playlists/schedule.ts'
import type { OperationDialect, RecordDialect } from '../../record-dialect.ts'
import { schemaChanger } from '../../response-schema.ts'

/** An occurrence of a playlist or a streamer. */
export const scheduleEntryDialect: RecordDialect = {
  response: schemaChanger({ fields: { type: { type: 'string', enum: ['playlist', 'streamer'] } } })
}

const dayMs = 86_400_000
const maxDays = 93
const maxEntries = 5_000

/**
 * The schedule of playlists and streamers: from `start` to the end of `end`, or without these the next entries until
 * the end of tomorrow. Times and days without an offset are in the zone of the station.
 */
export const listScheduleDialect: OperationDialect = {
  async handle(request, services) {
    const station = await getScheduledStation(request, services)
    const hasRange = ['start', 'end'].some(name => (request.query.get(name) ?? '') !== '')
    const period = hasRange
      ? await readRange(request, services, station)
      : await readUpcoming(request, services, station)
    const scheduled = await readScheduled(services, station.id)
    const entries = listScheduleEntries(getTimeZone(station.timezone), scheduled, period)
    const most = hasRange
      ? maxEntries
      : parseQueryInteger(request.query, 'rows', { least: 1, most: 500, fallback: 5 })
    return jsonReply(entries.slice(0, most))
  }
}

async function readRange({ query }: ApiRequest, services: ApiServices, station: ScheduledStation) {
  const today: Moment = { day: toDay(station, engineTimeMs()) }
  const start = parseMoment(query, 'start') ?? today
  const end = parseMoment(query, 'end') ?? today
  const [fromMs, afterStartMs, untilMs, toMs] = await Promise.all([
    readStart(services, station, 'start', start, 0),
    readStart(services, station, 'start', start, 1),
    readStart(services, station, 'end', end, 0),
    readStart(services, station, 'end', end, 1)
  ])
  // Exchanged dates are the same range.
  const range = fromMs <= untilMs ? { fromMs, toMs } : { fromMs: untilMs, toMs: afterStartMs }
  // A change of the clock makes a day longer.
  if (range.toMs - range.fromMs > (maxDays + 1) * dayMs)
    refuseField('end', 'out_of_range', `must be at most ${maxDays} days after the start.`)
  return { ...range, nowMs: engineTimeMs() }
}

async function readUpcoming({ query }: ApiRequest, services: ApiServices, station: ScheduledStation) {
  const now = parseMoment(query, 'now')
  const fromMs = now === null ? engineTimeMs() : await readStart(services, station, 'now', now, 0)
  const tomorrow = { day: toDay(station, fromMs, 1) }
  return { fromMs, toMs: await readStart(services, station, 'now', tomorrow, 1), nowMs: fromMs }
}

/** The local date at a time, or a number of days later. */
const toDay = ({ timezone }: ScheduledStation, atMs: number, after = 0): string =>
  new Date((getTimeZone(timezone).localDay(atMs) + after) * dayMs).toISOString().slice(0, 10)

/**
 * When a moment begins, or with `after` 1 the next day or second: Unix milliseconds. Throws 400 beyond the year 9998.
 */
async function readStart(
  { publicReads: sql }: ApiServices,
  station: ScheduledStation,
  field: string,
  at: Moment,
  after: 0 | 1
): Promise<number> {
  const [row] = await sql<{ ms: number }[]>`select ${momentStartMsFragment(sql, station, at, after)} as ms`
  const ms = row?.ms ?? Infinity
  return ms < latestMs ? ms : refuseField(field, 'out_of_range', 'must be before the year 9999.')
}

const latestMs = Date.UTC(9_999, 0, 1)

/** The scheduled playlists and active streamers of a station. */
async function readScheduled(
  { publicReads: sql }: ApiServices,
  stationId: number
): Promise<readonly ScheduleHolder[]> {
  const [playlists, streamers] = await Promise.all([
    readScheduledPlaylists(sql, stationId),
    sql<ScheduleHolder[]>`
      select 'streamer' as type, id, coalesce(nullif(display_name, ''), streamer_username) as name,
        schedule_items as items
      from streamers
      where station_id = ${stationId} and is_active and jsonb_array_length(schedule_items) > 0 order by id`
  ])
  return [...playlists, ...streamers]
}
