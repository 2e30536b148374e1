import type { TimeZone } from '../../model/autodj/time-zone.ts'
import { refuseField } from '../../platform/runtime/errors.ts'
import type { Fragment, Sql } from '../../stores/db/sql.ts'
import { isDateOrEmpty } from '../playlists/schedule-items.ts'
import type { PathStation } from './route.ts'

/** The last second of the year 9999. */
export const maxUnixSecond = 253_402_300_799

/** A calendar day, a local time without its offset, or a time in Unix seconds. */
export type Moment = { readonly day: string } | { readonly localTime: string } | { readonly seconds: number }

/** The schema of a query parameter that is a moment. */
export const momentSchema = (about: string) => ({
  type: 'string',
  description: `${about} A day (YYYY-MM-DD) in the station's time zone, a time (ISO 8601; without an offset in that time zone), or Unix seconds.`,
  examples: ['2026-07-08']
})

/** Parses a query parameter; null if it is absent. Throws 400 with its name. */
export function parseMoment(query: URLSearchParams, name: string): Moment | null {
  const text = query.get(name)?.trim() ?? ''
  if (text === '') return null
  const [, seconds] = /^@?(\d{1,12})$/.exec(text) ?? []
  if (seconds !== undefined) return { seconds: Number(seconds) }
  // The calendar of Postgres has no year 0.
  const extended = expandIso(text)
  if (isDateOrEmpty(extended) && !extended.startsWith('0000')) return { day: extended }
  const time = parseIsoTime(extended)
  if (time !== null) return time
  return refuseField(name, 'invalid_format', 'must be a day (YYYY-MM-DD), an ISO 8601 time or Unix seconds.')
}

/**
 * Writes a date as `YYYY-MM-DD`, and the time after it with colons. Takes the other formats of ISO 8601 for dates
 * (`2026W274`, `2026189T120000Z`, `2026-07`), and dates with slashes or without zeros (`2026/7/8`). Returns other text
 * unchanged.
 */
function expandIso(text: string): string {
  const [, date = '', time = ''] =
    /^(\d{8}(?=[T ])|\d{4}-?\d{3}|\d{4}-?W\d{2}(?:-?[1-7])?|\d{4}-\d{1,2}(?:-\d{1,2})?|\d{4}(?:\/\d{1,2}){2})([T ].*)?$/i.exec(
      text
    ) ?? []
  const day = expandDate(date)
  if (day === '') return text
  return day + expandTime(time)
}

/** Adds the colons of the basic format, and the minutes of a time that has only its hour. */
function expandTime(time: string): string {
  return time
    .replace(/^(.\d{2})(\d{2})(\d{2})?(?!\d)/, (_, hour: string, minute: string, second = '') =>
      [hour, minute, ...(second === '' ? [] : [second])].join(':')
    )
    .replace(/^.\d{2}(?=$|[z+ -])/i, '$&:00')
}

const dayMs = 86_400_000
const toDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** A calendar date for one by its parts, by its week or by its number in the year; empty for other text. */
function expandDate(date: string): string {
  const [, named = '', month = '', monthDay = '1'] =
    /^(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?$/.exec(date) ?? []
  if (named !== '') return [named, month.padStart(2, '0'), monthDay.padStart(2, '0')].join('-')
  const digits = date.replaceAll('-', '')
  const year = digits.slice(0, 4)
  const firstMs = Date.parse(`${year}-01-01T00:00:00Z`)
  if (/^\d{8}$/.test(digits)) return `${year}-${digits.slice(4, 6)}-${digits.slice(6)}`
  if (/^\d{7}$/.test(digits)) {
    const day = toDay(firstMs + (Number(digits.slice(4)) - 1) * dayMs)
    return day.startsWith(year) ? day : ''
  }
  const [, week, weekday = '1'] = /^\d{4}W(\d{2})(\d)?$/i.exec(digits) ?? []
  if (week === undefined || Number(week) < 1 || Number(week) > 53) return ''
  // The first week is that of the fourth of January; weeks begin on Monday.
  const fourthMs = firstMs + 3 * dayMs
  const mondayMs = fourthMs - ((new Date(fourthMs).getUTCDay() + 6) % 7) * dayMs
  return toDay(mondayMs + ((Number(week) - 1) * 7 + Number(weekday) - 1) * dayMs)
}

/** Parses a date and time. The `+` of an offset may have been decoded as a blank. Null for other text. */
function parseIsoTime(text: string): Moment | null {
  const [, day = '', time = '', seconds = ':00', zone = ''] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:[.,]\d{1,9})?(z|[+ -]\d{2}(?::?\d{2})?)?$/i.exec(
      text
    ) ?? []
  const local = `${day}T${time}${seconds}`
  const milliseconds = Date.parse(`${local}Z`)
  if (day === '' || day.startsWith('0000') || !isDateOrEmpty(day) || Number.isNaN(milliseconds)) return null
  if (zone === '') return { localTime: local }
  const [, sign, hours = '0', minutes = '0'] = /^([+ -])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 * (sign === '-' ? -1 : 1)
  return { seconds: milliseconds / 1000 - offset }
}

/** When a moment begins, or with `after` 1 the next day or second: Unix milliseconds. */
export function momentStartMsFragment(
  sql: Sql,
  station: Pick<PathStation, 'id'>,
  at: Moment,
  after: 0 | 1
): Fragment {
  if ('seconds' in at) return sql`${(at.seconds + after) * 1000}::bigint`
  if ('localTime' in at)
    return sql`(select (extract(epoch from
        (${at.localTime}::text::timestamp + make_interval(secs => ${after})) at time zone known_zone(s.timezone)) * 1000)::bigint
      from stations s where s.id = ${station.id})`
  return sql`(select (extract(epoch from
      (${at.day}::text::date + ${after}::int)::timestamp at time zone known_zone(s.timezone)) * 1000)::bigint
    from stations s where s.id = ${station.id})`
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Renders a time as local time (RFC 3339): `2026-03-29T03:00:00+02:00`. */
export function formatLocalIsoTime(zone: TimeZone, atMs: number): string {
  const { offsetMs } = zone.span(atMs)
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const offset = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
  return new Date(atMs + offsetMs).toISOString().slice(0, 19) + (offsetMs < 0 ? '-' : '+') + offset
}
