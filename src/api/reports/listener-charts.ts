import { formatDayNumber, hourMs, getTimeZone, type TimeZone } from '../../model/autodj/time-zone.ts'
import { choiceField } from '../../model/fields/field.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import { openQueryFilters } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, string } from '../core/schemas.ts'
import { chartAlternativeSchema, type ChartRow, renderChartAlternative } from './chart.ts'
import { type ReportPeriod, reportPeriodParameters, readReportPeriod } from './report-period.ts'

/**
 * The listeners of one hour (UTC): the sum of the totals of its known minutes, their number, and the highest unique
 * count.
 */
export interface HourCounts {
  readonly hour: number
  readonly minutes: number
  readonly totals: number
  readonly unique: number
}

type ChartType = 'average' | 'unique'

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const unit = 'Listeners'

/** What hours have in common with others: a day, a weekday or an hour of the day. */
type Totals = Omit<HourCounts, 'hour'>

const none: Totals = { minutes: 0, totals: 0, unique: 0 }

const add = (sum: Totals, { minutes, totals, unique }: Totals): Totals => ({
  minutes: sum.minutes + minutes,
  totals: sum.totals + totals,
  unique: Math.max(sum.unique, unique)
})

/** The value of hours: the average over their minutes, or the highest unique count. */
function valueOf(type: ChartType, { minutes, totals, unique }: Totals): number {
  if (type === 'unique') return unique
  return minutes === 0 ? 0 : Math.round((totals / minutes) * 100) / 100
}

/** An hour in local time: its day since 1970, weekday (0: Monday) and hour of the day. */
function localHour(zone: TimeZone, hour: number) {
  const day = zone.localDay(hour * hourMs)
  return { day, weekday: (day + 3) % 7, hourOfDay: Math.floor(zone.minuteOfDay(hour * hourMs) / 60) }
}

/** Renders the charts by day, day of the week and hour, in the time zone of the station. */
export function renderListenerCharts(type: ChartType, zone: TimeZone, hours: readonly HourCounts[]) {
  const byDay = new Map<number, Totals>()
  const byWeekday = weekdays.map(() => none)
  const byHour = weekdays.map(() => Array.from({ length: 24 }, () => none))
  for (const counts of hours) {
    const { day, weekday, hourOfDay } = localHour(zone, counts.hour)
    byDay.set(day, add(byDay.get(day) ?? none, counts))
    byWeekday[weekday] = add(byWeekday[weekday] ?? none, counts)
    const ofWeekday = byHour[weekday]
    if (ofWeekday) ofWeekday[hourOfDay] = add(ofWeekday[hourOfDay] ?? none, counts)
  }
  const daily = [...byDay]
    .toSorted(([a], [b]) => a - b)
    .map(([day, totals]) => ({
      x: zone.instant(day, 0, 'first'),
      date: formatDayNumber(day),
      y: valueOf(type, totals)
    }))
  const weekdayRows = weekdays.map((name, index): ChartRow => [name, valueOf(type, byWeekday[index] ?? none)])
  const hourRows = (weekday: number | null) =>
    Array.from({ length: 24 }, (_, hour): ChartRow => {
      const chosen = weekday === null ? byHour : byHour.slice(weekday, weekday + 1)
      return [`${hour}:00`, valueOf(type, chosen.map(each => each[hour] ?? none).reduce(add, none))]
    })
  const categories = [null, 0, 1, 2, 3, 4, 5, 6]
  return {
    daily: {
      metrics: [
        { label: 'Listeners by Day', type: 'line', fill: false, data: daily.map(({ x, y }) => ({ x, y })) }
      ],
      alt: [
        {
          label: 'Listeners by Day',
          values: daily.map(({ x, y, date }) => ({
            label: date,
            type: 'time',
            original: x,
            value: `${y} ${unit}`
          }))
        }
      ]
    },
    day_of_week: renderBars('Listeners by Day of Week', weekdayRows),
    hourly: Object.fromEntries(
      categories.map(weekday => [
        weekday === null ? 'all' : `day${weekday}`,
        renderBars('Listeners by Hour', hourRows(weekday))
      ])
    )
  }
}

const renderBars = (label: string, rows: readonly ChartRow[]) => ({
  labels: rows.map(([name]) => name),
  metrics: [{ label, data: rows.map(([, value]) => value) }],
  alt: [renderChartAlternative(label, unit, rows)]
})

/**
 * Reads the counts of the hours of a period. Only minutes with changes are stored; the counts last until the next one.
 */
export async function readHourCounts(
  sql: Sql,
  read: HeavyRead,
  stationId: number,
  { startMs, endMs }: ReportPeriod
): Promise<readonly HourCounts[]> {
  const first = Math.floor(startMs / 60_000)
  const end = Math.ceil(endMs / 60_000)
  return read.rows<HourCounts>(sql`
    with changes as (
      (select ${first}::int as minute, total, "unique" as "unique" from listener_minutes
        where station_id = ${stationId} and minute < ${first} order by minute desc limit 1)
      union all
      select minute, total, "unique" from listener_minutes
      where station_id = ${stationId} and minute >= ${first} and minute < ${end}
    ), spans as (
      select minute, total, "unique", lead(minute, 1, ${end}::int) over (order by minute) as next from changes
    )
    select h.hour, sum(p.minutes)::int as minutes, sum(s.total::bigint * p.minutes)::bigint as totals,
      max(s."unique") as "unique"
    from spans s
      cross join lateral generate_series(s.minute / 60, (s.next - 1) / 60) h(hour)
      cross join lateral (
        select least(s.next, (h.hour + 1) * 60) - greatest(s.minute, h.hour * 60) as minutes) p
    where s.next > s.minute
    group by h.hour order by h.hour`)
}

const number = { type: 'number' }
const bars = exactObject({
  labels: arrayOf(string),
  metrics: arrayOf(exactObject({ label: string, data: arrayOf(number) })),
  alt: arrayOf(chartAlternativeSchema)
})
const line = exactObject({
  label: string,
  type: string,
  fill: { type: 'boolean' },
  data: arrayOf(exactObject({ x: { ...number, description: 'Unix milliseconds.' }, y: number }))
})

const options = openQueryFilters({
  type: choiceField(['unique', 'average'], {
    about:
      'unique: the highest number of distinct listeners at one time. average: over time. Default: unique.'
  })
})

const maxHours = 30_000

export const listenerChartsRoute = apiRoute(
  'GET',
  '/api/station/:station_id/reports/overview/charts',
  'view station reports',
  {
    id: 'reportListenerCharts',
    tag: 'History',
    summary: 'Listeners by day, day of the week and hour',
    query: { ...reportPeriodParameters, ...options.schemas },
    response: exactObject({
      daily: exactObject({ metrics: arrayOf(line), alt: arrayOf(chartAlternativeSchema) }),
      day_of_week: bars,
      hourly: exactObject(
        Object.fromEntries(['all', ...weekdays.map((_, index) => `day${index}`)].map(name => [name, bars]))
      )
    }),
    async handle(request, { reads: sql, heavyReads }) {
      const station = getRequestStation(request)
      const { type = 'unique' } = options.parse(request.query)
      const period = await readReportPeriod(sql, station, request.query)
      return heavyReads.run(request, { isLight: false, rows: maxHours }, async read => {
        const [settings] = await read.rows<{ timezone: string }>(
          sql`select timezone from stations where id = ${station.id}`
        )
        if (!settings) throw new ApiError('not-found')
        const hours = await readHourCounts(sql, read, station.id, period)
        return jsonReply(renderListenerCharts(type, getTimeZone(settings.timezone), hours))
      })
    }
  }
)
