import { formatDayNumber, hourMs, getTimeZone, type TimeZone } from '../../model/autodj/time-zone.ts'
import { choiceField } from '../../model/fields/field.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { renderCsvLine, renderCsvReply } from '../core/csv.ts'
import type { HeavyRead } from '../core/heavy-reads.ts'
import { openQueryFilters } from '../core/parse.ts'
import { apiRoute, jsonReply, getRequestStation } from '../core/route.ts'
import { arrayOf, exactObject, int64, string, unixSeconds } from '../core/schemas.ts'
import { readHourCounts } from './listener-charts.ts'
import { sessionLengthGroups, type SessionSums, sessionSumsFragment } from './listener-sessions.ts'
import { type ReportPeriod, reportPeriodParameters } from './report-period.ts'
import {
  noSessionSums,
  readSessionGroupSums,
  readSessionLengthSums,
  readSessionReport
} from './session-report.ts'

const path = '/api/station/:station_id/reports/audience'
const tag = 'Listeners'
const number = { type: 'number' }
const maxDays = 1_200

const options = openQueryFilters({
  format: choiceField(['json', 'csv'], { about: 'csv: the rows as a file. Default: json.' })
})

const listeningHours = {
  ...number,
  description: 'The time that all sessions together listened in the period, in hours.'
}
const sessionFields = {
  sessions: { ...int64, description: 'The sessions with listening in the period.' },
  listening_hours: listeningHours
}

/** Milliseconds as hours with three decimals. */
const toHours = (ms: number): number => Math.round(ms / 3_600) / 1_000

const renderSums = ({ sessions, ms }: SessionSums) => ({ sessions, listening_hours: toHours(ms) })

/** The mean length of sessions in seconds. */
const averageSeconds = ({ sessions, ms }: SessionSums): number =>
  sessions === 0 ? 0 : Math.round(ms / sessions / 1_000)

/** The local days of a period, each with the part of it in the period in Unix milliseconds. */
function splitDays(zone: TimeZone, { startMs, endMs }: ReportPeriod) {
  if (endMs <= startMs) return []
  const first = zone.localDay(startMs)
  const count = zone.localDay(endMs - 1) - first + 1
  return Array.from({ length: count }, (_, index) => ({
    day: first + index,
    startMs: Math.max(startMs, zone.instant(first + index, 0, 'first')),
    endMs: Math.min(endMs, zone.instant(first + index + 1, 0, 'first'))
  }))
}

type Day = ReturnType<typeof splitDays>[number]

/** Reads the sums of each day, in their order. */
async function readDays(
  sql: Sql,
  read: HeavyRead,
  sessions: Fragment,
  days: readonly Day[]
): Promise<readonly SessionSums[]> {
  const starts = days.map(({ startMs }) => startMs)
  const ends = days.map(({ endMs }) => endMs)
  const rows = await read.rows<SessionSums & { index: number }>(sql`
    select d.index, count(*)::int as sessions,
      sum(least(s.to_ms, (${ends}::bigint[])[d.index]) - greatest(s.from_ms, (${starts}::bigint[])[d.index]))::bigint as ms
    from (${sessions}) s
      cross join lateral generate_series(width_bucket(s.from_ms, ${starts}::bigint[]),
        width_bucket(s.to_ms - 1, ${starts}::bigint[])) d(index)
    group by d.index`)
  const byIndex = new Map(rows.map(({ index, ...sums }) => [index, sums]))
  // Arrays of Postgres begin with 1.
  return days.map((_, index) => byIndex.get(index + 1) ?? noSessionSums)
}

/** Reads the most listeners at one time of each day, in their order. */
async function readPeaks(
  sql: Sql,
  read: HeavyRead,
  stationId: number,
  days: readonly Day[]
): Promise<readonly number[]> {
  const firsts = days.map(({ startMs }) => Math.floor(startMs / 60_000))
  const ends = days.map(({ endMs }) => Math.ceil(endMs / 60_000))
  const rows = await read.rows<{ peak: number }>(sql`
    select coalesce(greatest(
      (select max(most) from listener_minutes
        where station_id = ${stationId} and minute >= d.first and minute < d."end"),
      (select total from listener_minutes where station_id = ${stationId} and minute < d.first
        order by minute desc limit 1)), 0) as peak
    from unnest(${firsts}::int[], ${ends}::int[]) with ordinality as d (first, "end", index) order by d.index`)
  return rows.map(({ peak }) => peak)
}

const audienceRoute = apiRoute('GET', path, 'view station reports', {
  id: 'reportAudience',
  tag,
  summary: 'Sessions of listeners: their number, time and length, also by day',
  query: { ...reportPeriodParameters, ...options.schemas },
  response: exactObject({
    start: unixSeconds,
    end: unixSeconds,
    ...sessionFields,
    average_seconds: { ...int64, description: 'The mean length of sessions.' },
    counted_hours: {
      ...number,
      description:
        'The time that all listeners together listened by the counts of listeners, which include those that are counted, but not listed by their streaming server.'
    },
    peak: { ...int64, description: 'The most listeners at one time.' },
    days: arrayOf(
      exactObject({
        date: { ...string, format: 'date' },
        ...sessionFields,
        average_seconds: int64,
        counted_hours: number,
        peak: int64
      })
    )
  }),
  hasCsv: true,
  async handle(request, services) {
    const station = getRequestStation(request)
    const { format = 'json' } = options.parse(request.query)
    const report = await readSessionReport(request, services, maxDays, async found => {
      const { read, sql, period, sessions } = found
      const [settings] = await read.rows<{ timezone: string }>(
        sql`select timezone from stations where id = ${station.id}`
      )
      if (!settings) throw new ApiError('not-found')
      const zone = getTimeZone(settings.timezone)
      const days = splitDays(zone, period)
      const [total] = await read.rows<SessionSums>(
        sql`select ${sessionSumsFragment(sql)} from (${sessions}) s`
      )
      const byDay = await readDays(sql, read, sessions, days)
      const peaks = await readPeaks(sql, read, station.id, days)
      const countedByDay = new Map<number, number>()
      for (const { hour, totals } of await readHourCounts(sql, read, station.id, period)) {
        const day = zone.localDay(hour * hourMs)
        countedByDay.set(day, (countedByDay.get(day) ?? 0) + totals * 60_000)
      }
      const rows = days.map(({ day }, index) => {
        const sums = byDay[index] ?? noSessionSums
        return {
          date: formatDayNumber(day),
          ...renderSums(sums),
          average_seconds: averageSeconds(sums),
          counted_hours: toHours(countedByDay.get(day) ?? 0),
          peak: peaks[index] ?? 0
        }
      })
      const sums = total ?? noSessionSums
      return {
        start: Math.floor(period.startMs / 1_000),
        end: Math.floor(period.endMs / 1_000),
        ...renderSums(sums),
        average_seconds: averageSeconds(sums),
        counted_hours: toHours([...countedByDay.values()].reduce((sum, ms) => sum + ms, 0)),
        peak: Math.max(0, ...peaks),
        days: rows
      }
    })
    if (format === 'json') return jsonReply(report)
    const header = renderCsvLine([
      'date',
      'sessions',
      'listening_hours',
      'average_seconds',
      'counted_hours',
      'peak'
    ])
    const lines = report.days.map(row => renderCsvLine(Object.values(row)))
    return renderCsvReply(`${station.shortName}-audience`, header + lines.join(''))
  }
})

interface GroupReport {
  readonly id: string
  readonly summary: string
  /** The fields that name a group, and their columns in `listenerSessionsFragment`. */
  readonly fields: Readonly<Record<string, string>>
}

/** A report of sessions by columns, those with the most time first. */
const groupRoute = (name: string, { id, summary, fields }: GroupReport) =>
  apiRoute('GET', `${path}/${name}`, 'view station reports', {
    id,
    tag,
    summary,
    query: { ...reportPeriodParameters, ...options.schemas },
    response: arrayOf(
      exactObject({
        ...Object.fromEntries(Object.keys(fields).map(field => [field, string])),
        ...sessionFields,
        average_seconds: int64
      })
    ),
    hasCsv: true,
    async handle(request, services) {
      const { format = 'json' } = options.parse(request.query)
      const names = Object.keys(fields)
      const rows = await readSessionGroupSums(request, services, { columns: fields })
      const rendered = rows.map(row => [
        ...names.map(field => [field, row[field] ?? ''] as const),
        ...Object.entries({ ...renderSums(row), average_seconds: averageSeconds(row) })
      ])
      if (format === 'json') return jsonReply(rendered.map(pairs => Object.fromEntries(pairs)))
      const header = renderCsvLine([...names, 'sessions', 'listening_hours', 'average_seconds'])
      const lines = rendered.map(pairs => renderCsvLine(pairs.map(([, value]) => value)))
      return renderCsvReply(
        `${getRequestStation(request).shortName}-audience-${name}`,
        header + lines.join('')
      )
    }
  })

const byCountry = groupRoute('by-country', {
  id: 'reportAudienceByCountry',
  summary: 'Sessions of listeners by country (ISO 3166-1 alpha-2), empty if it is unknown',
  fields: { country: 'country' }
})

const byClient = groupRoute('by-client', {
  id: 'reportAudienceByClient',
  summary: 'Sessions of listeners by the program with which they listened',
  fields: { client: 'family' }
})

const byMount = groupRoute('by-mount', {
  id: 'reportAudienceByMount',
  summary: 'Sessions of listeners by mount, remote and HLS stream',
  fields: { kind: 'source', mount: 'stream' }
})

const byLength = apiRoute('GET', `${path}/by-listening-time`, 'view station reports', {
  id: 'reportAudienceByListeningTime',
  tag,
  summary: 'Sessions of listeners by their length',
  query: { ...reportPeriodParameters, ...options.schemas },
  response: arrayOf(
    exactObject({
      from_seconds: { ...int64, description: 'Sessions longer than this, to the next one.' },
      ...sessionFields
    })
  ),
  hasCsv: true,
  async handle(request, services) {
    const { format = 'json' } = options.parse(request.query)
    const groups = await readSessionLengthSums(request, services)
    const rows = groups.map((sums, index) => ({
      from_seconds: sessionLengthGroups[index - 1]?.[0] ?? 0,
      ...renderSums(sums)
    }))
    if (format === 'json') return jsonReply(rows)
    const header = renderCsvLine(['from_seconds', 'sessions', 'listening_hours'])
    return renderCsvReply(
      `${getRequestStation(request).shortName}-audience-by-listening-time`,
      header + rows.map(row => renderCsvLine(Object.values(row))).join('')
    )
  }
})

export const audienceRoutes = [audienceRoute, byCountry, byClient, byMount, byLength]
