import { type ScheduleItem, listWindowsBetween } from '../../model/autodj/schedule.ts'
import { getTimeZone } from '../../model/autodj/time-zone.ts'
import { engineTimeMs } from '../../platform/runtime/engine-time.ts'
import { ApiError, refuseField } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import type { Permission } from '../auth/access.ts'
import { momentSchema, parseMoment, momentStartMsFragment, formatLocalIsoTime } from '../core/moments.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, int64, namedSchema, string } from '../core/schemas.ts'

const dayMs = 86_400_000
const defaultDays = 14
const maxDays = 100
const maxEvents = 5_000

const calendarEventSchema = namedSchema(
  'CalendarEvent',
  'One time that a playlist or a streamer is scheduled.',
  exactObject({
    id: { ...int64, description: 'The id of the playlist or streamer.' },
    title: string,
    start: { ...string, format: 'date-time', description: 'Local time of the station.' },
    end: { ...string, format: 'date-time' },
    edit_url: string
  })
)

interface Calendar {
  readonly path: string
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly access: Permission
  /** The path of a record, before its id. */
  readonly record: string
  /** Returns `id`, `title` and `items` of the scheduled records of a station. */
  readonly select: (sql: Sql, stationId: number) => Fragment
}

const calendarRoute = ({ path, access, record, select, ...doc }: Calendar) =>
  apiRoute('GET', `/api/station/:station_id/${path}`, access, {
    ...doc,
    query: {
      start: momentSchema(`The start. Default: ${defaultDays} days before now.`),
      end: momentSchema(`The end, at most ${maxDays} days after the start; a day is included. Default: now.`)
    },
    response: arrayOf(calendarEventSchema),
    async handle(request, { reads: sql, config }) {
      const station = getRequestStation(request)
      const start = parseMoment(request.query, 'start')
      const end = parseMoment(request.query, 'end')
      const [[settings], records] = await Promise.all([
        sql<{ timezone: string; startMs: number | null; endMs: number | null }[]>`
          select timezone, ${start ? momentStartMsFragment(sql, station, start, 0) : sql`null::bigint`} as "startMs",
            ${end ? momentStartMsFragment(sql, station, end, 1) : sql`null::bigint`} as "endMs"
          from stations where id = ${station.id}`,
        sql<{ id: number; title: string; items: ScheduleItem[] }[]>`${select(sql, station.id)}`
      ])
      if (!settings) throw new ApiError('not-found')
      const endMs = settings.endMs ?? engineTimeMs()
      const startMs = settings.startMs ?? endMs - defaultDays * dayMs
      if (endMs < startMs || endMs - startMs > maxDays * dayMs)
        refuseField('end', 'out_of_range', `must be at most ${maxDays} days after the start.`)
      const zone = getTimeZone(settings.timezone)
      const events = records.flatMap(({ id, title, items }) =>
        listWindowsBetween(zone, items, startMs, endMs).map(window => ({
          id,
          title,
          start: formatLocalIsoTime(zone, window.startMs),
          end: formatLocalIsoTime(zone, window.endMs),
          edit_url: `${config.BASE_URL}/api/station/${station.id}/${record}/${id}`
        }))
      )
      return jsonReply(events.slice(0, maxEvents))
    }
  })

export const calendarRoutes = [
  calendarRoute({
    path: 'playlists/schedule',
    id: 'listPlaylistEvents',
    tag: 'Playlists',
    summary: 'The scheduled periods of enabled playlists, as events of a calendar',
    access: 'view station management',
    record: 'playlist',
    select: (sql, stationId) => sql`
      select id, name as title, schedule_items as items from playlists
      where station_id = ${stationId} and is_enabled and not is_jingle and schedule_items <> '[]' order by id`
  }),
  calendarRoute({
    path: 'streamers/schedule',
    id: 'listStreamerEvents',
    tag: 'Streamers',
    summary: 'The scheduled periods of active streamers, as events of a calendar',
    access: 'manage station streamers',
    record: 'streamer',
    select: (sql, stationId) => sql`
      select id, coalesce(nullif(display_name, ''), streamer_username) as title, schedule_items as items
      from streamers where station_id = ${stationId} and is_active and schedule_items <> '[]' order by id`
  })
]
