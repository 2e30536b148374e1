import type { Zone } from '../../autodj/zone.ts'
import type { Fragment, Sql } from '../../db/sql.ts'
import { isDateOrEmpty } from '../playlists/schedule-items.ts'
import { refuseField } from './parse.ts'
import type { StationRow } from './route.ts'

/** The last second of the year 9999. */
export const maxSecond = 253_402_300_799

/** A calendar day, or a time in Unix seconds. */
export type Moment = { readonly day: string } | { readonly seconds: number }

/** The schema of a query parameter that is a moment. */
export const momentSchema = (about: string) => ({
  type: 'string',
  description: `${about} A day (YYYY-MM-DD) in the station's time zone, or Unix seconds.`,
  examples: ['2026-07-08']
})

/** Parses a query parameter; null if it is absent. Throws 400 with its name. */
export function parseMoment(query: URLSearchParams, name: string): Moment | null {
  const text = query.get(name)?.trim() ?? ''
  if (text === '') return null
  if (/^\d{1,12}$/.test(text)) return { seconds: Number(text) }
  // The calendar of Postgres has no year 0.
  if (isDateOrEmpty(text) && !text.startsWith('0000')) return { day: text }
  return refuseField(name, 'invalid_format', 'must be a day (YYYY-MM-DD) or Unix seconds.')
}

/** When a moment begins, or with `after` 1 the next day or second: Unix milliseconds. */
export function startMsFragment(sql: Sql, station: StationRow, at: Moment, after: 0 | 1): Fragment {
  if ('seconds' in at) return sql`${(at.seconds + after) * 1000}::bigint`
  return sql`(select (extract(epoch from
      (${at.day}::text::date + ${after}::int)::timestamp at time zone s.timezone) * 1000)::bigint
    from stations s where s.id = ${station.id})`
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

/** Renders a time as local time (RFC 3339): `2026-03-29T03:00:00+02:00`. */
export function toLocalTime(zone: Zone, atMs: number): string {
  const { offsetMs } = zone.span(atMs)
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const offset = `${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
  return new Date(atMs + offsetMs).toISOString().slice(0, 19) + (offsetMs < 0 ? '-' : '+') + offset
}
