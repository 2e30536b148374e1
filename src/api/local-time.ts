import type { Zone } from '../autodj/zone.ts'

const two = (value: number) => String(value).padStart(2, '0')

/** An instant as the clock of a zone shows it, by RFC 3339: `2026-03-29T03:00:00+02:00`. */
export function localTime(zone: Zone, atMs: number): string {
  const { offsetMs } = zone.span(atMs)
  const minutes = Math.round(Math.abs(offsetMs) / 60_000)
  const sign = offsetMs < 0 ? '-' : '+'
  const offset = `${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  return new Date(atMs + offsetMs).toISOString().slice(0, 19) + offset
}
