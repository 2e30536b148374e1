import type { Zone } from '../autodj/zone.ts'

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** An instant as a station's clock shows it: `Mon 2026-03-23 06:00:00`. */
export function localTime(zone: Zone, atMs: number): string {
  const shown = new Date(atMs + zone.span(atMs).offsetMs)
  return `${days[shown.getUTCDay()] ?? ''} ${shown.toISOString().slice(0, 19).replace('T', ' ')}`
}

/** A length in minutes and seconds, or hours, minutes and seconds: `3:05`, `1:00:00`. Fractions are cut off. */
export function lengthText(lengthMs: number): string {
  const seconds = Math.floor(lengthMs / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}

/** Two digits. */
export const two = (value: number) => String(value).padStart(2, '0')
