import { clockShape } from './time.ts'

const made = new Map<string, Intl.DateTimeFormat>()

/** A time of day from the minutes since midnight, in the visitor's way: `14:05`, `2:05 PM`. */
export function clockText(minutes: number, locale?: string): string {
  const format = made.get(locale ?? '') ?? make(locale)
  made.set(locale ?? '', format)
  return format.format(minutes * 60_000)
}

const make = (locale?: string) => new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...clockShape(locale) })
