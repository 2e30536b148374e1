import { dayMs, minuteMs, getTimeZone, type TimeZone } from '../../model/autodj/time-zone.ts'

/** A part of a local date, in local time. */
export interface LocalDayPart {
  /** Days since 1970-01-01. */
  readonly day: number
  /** Local time in minutes, with fractions. */
  readonly fromMinute: number
  readonly toMinute: number
  /** Whether the clock shows this time once, or which of the two times it is. */
  readonly occurrence: 'only' | 'first' | 'second'
}

/** Splits a period at local midnights and clock changes. */
export function splitByDay(zone: TimeZone, fromMs: number, toMs: number): LocalDayPart[] {
  const pieces: LocalDayPart[] = []
  for (let atMs = fromMs; atMs < toMs;) {
    const span = zone.span(atMs)
    const day = Math.floor((atMs + span.offsetMs) / dayMs)
    const { occurrence, untilMs } = occurrenceAt(zone, atMs)
    const endMs = Math.min(toMs, untilMs, span.untilMs, (day + 1) * dayMs - span.offsetMs)
    const minuteOf = (timeMs: number) => (timeMs + span.offsetMs - day * dayMs) / minuteMs
    pieces.push({ day, fromMinute: minuteOf(atMs), toMinute: minuteOf(endMs), occurrence })
    atMs = endMs
  }
  return pieces
}

function occurrenceAt(zone: TimeZone, atMs: number): Pick<LocalDayPart, 'occurrence'> & { untilMs: number } {
  const { fromMs, untilMs, offsetMs } = zone.span(atMs)
  if (fromMs > -Infinity) {
    const repeatedUntilMs = fromMs + zone.span(fromMs - 1).offsetMs - offsetMs
    if (atMs < repeatedUntilMs) return { occurrence: 'second', untilMs: repeatedUntilMs }
  }
  if (untilMs === Infinity) return { occurrence: 'only', untilMs }
  const repeatedFromMs = untilMs - Math.max(0, offsetMs - zone.span(untilMs).offsetMs)
  return atMs < repeatedFromMs
    ? { occurrence: 'only', untilMs: repeatedFromMs }
    : { occurrence: 'first', untilMs }
}

/** A local time that the clock skips or repeats. */
export interface ClockChange extends Omit<LocalDayPart, 'occurrence'> {
  readonly kind: 'skipped' | 'repeated'
}

/** The clock changes between two times (from: exclusive), split at midnight. */
export function findClockChanges(zone: TimeZone, fromMs: number, toMs: number): ClockChange[] {
  const changes: ClockChange[] = []
  for (let atMs = fromMs; atMs < toMs;) {
    const { offsetMs, untilMs } = zone.span(atMs)
    // A span does not contain a change that is more than about two days away.
    const nextMs = Math.min(untilMs, atMs + dayMs)
    const after = zone.span(nextMs).offsetMs
    if (nextMs < toMs && after !== offsetMs) {
      const local = [nextMs + offsetMs, nextMs + after] as const
      const kind = after > offsetMs ? 'skipped' : 'repeated'
      const pieces = splitByDay(getTimeZone('UTC'), Math.min(...local), Math.max(...local))
      changes.push(
        ...pieces.map(({ day, fromMinute, toMinute }) => ({ day, fromMinute, toMinute, kind }) as const)
      )
    }
    atMs = nextMs
  }
  return changes
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** Formats an instant in local time: `Mon 2026-03-23 06:00:00`. */
export function formatLocalTime(zone: TimeZone, atMs: number): string {
  const local = new Date(atMs + zone.span(atMs).offsetMs)
  return `${days[local.getUTCDay()] ?? ''} ${local.toISOString().slice(0, 19).replace('T', ' ')}`
}

/** Formats a length as `3:05` or `1:00:00`. Fractions are truncated. */
export function formatLength(lengthMs: number): string {
  const seconds = Math.floor(lengthMs / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${twoDigits(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${twoDigits(minutes % 60)}:${twoDigits(seconds % 60)}`
}

export const twoDigits = (value: number) => String(value).padStart(2, '0')
