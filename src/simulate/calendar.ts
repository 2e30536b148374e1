import { dayMs, minuteMs, type Zone } from '../autodj/zone.ts'

/** A stretch of one local date, by what the clock shows. */
export interface Piece {
  /** Days since 1970-01-01. */
  readonly day: number
  /** Minutes since the clock showed 00:00, with fractions. */
  readonly fromMinute: number
  readonly toMinute: number
  /** Of a time that the clock shows twice: whether it is the first or the second. */
  readonly showing: 'only' | 'first' | 'second'
}

/** Cuts a time at midnights and where the clock changes. */
export function piecesOf(zone: Zone, fromMs: number, toMs: number): Piece[] {
  const pieces: Piece[] = []
  for (let atMs = fromMs; atMs < toMs;) {
    const span = zone.span(atMs)
    const day = Math.floor((atMs + span.offsetMs) / dayMs)
    const { showing, untilMs } = showingAt(zone, atMs)
    const endMs = Math.min(toMs, untilMs, span.untilMs, (day + 1) * dayMs - span.offsetMs)
    const minuteOf = (timeMs: number) => (timeMs + span.offsetMs - day * dayMs) / minuteMs
    pieces.push({ day, fromMinute: minuteOf(atMs), toMinute: minuteOf(endMs), showing })
    atMs = endMs
  }
  return pieces
}

function showingAt(zone: Zone, atMs: number): { showing: Piece['showing']; untilMs: number } {
  const { fromMs, untilMs, offsetMs } = zone.span(atMs)
  if (fromMs > -Infinity) {
    const repeatedUntilMs = fromMs + zone.span(fromMs - 1).offsetMs - offsetMs
    if (atMs < repeatedUntilMs) return { showing: 'second', untilMs: repeatedUntilMs }
  }
  if (untilMs === Infinity) return { showing: 'only', untilMs }
  const repeatedFromMs = untilMs - Math.max(0, offsetMs - zone.span(untilMs).offsetMs)
  return atMs < repeatedFromMs ? { showing: 'only', untilMs: repeatedFromMs } : { showing: 'first', untilMs }
}

/** A time of a local date that the clock skips, or shows twice. */
export interface ClockChange {
  readonly day: number
  readonly fromMinute: number
  readonly toMinute: number
  readonly kind: 'skipped' | 'repeated'
}

/** Where clocks change, from a time (exclusive) to another. A stretch over midnight is cut there. */
export function clockChanges(zone: Zone, fromMs: number, toMs: number): ClockChange[] {
  const changes: ClockChange[] = []
  for (let atMs = fromMs; atMs < toMs;) {
    const { offsetMs, untilMs } = zone.span(atMs)
    // Spans without a change nearby do not say when theirs is.
    const nextMs = Math.min(untilMs, atMs + dayMs)
    const after = zone.span(nextMs).offsetMs
    if (nextMs < toMs && after !== offsetMs) {
      const shown = [nextMs + offsetMs, nextMs + after] as const
      const kind = after > offsetMs ? 'skipped' : 'repeated'
      changes.push(...cutAtMidnight(Math.min(...shown), Math.max(...shown), kind))
    }
    atMs = nextMs
  }
  return changes
}

function cutAtMidnight(fromShownMs: number, toShownMs: number, kind: ClockChange['kind']): ClockChange[] {
  const day = Math.floor(fromShownMs / dayMs)
  const midnightMs = (day + 1) * dayMs
  const minuteOf = (shownMs: number) => (shownMs - day * dayMs) / minuteMs
  const first = {
    day,
    fromMinute: minuteOf(fromShownMs),
    toMinute: minuteOf(Math.min(toShownMs, midnightMs)),
    kind
  }
  return toShownMs > midnightMs ? [first, ...cutAtMidnight(midnightMs, toShownMs, kind)] : [first]
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** An instant as a station's clock shows it: `Mon 2026-03-23 06:00:00`. */
export function localTimeAt(zone: Zone, atMs: number): string {
  const shown = new Date(atMs + zone.span(atMs).offsetMs)
  return `${days[shown.getUTCDay()] ?? ''} ${shown.toISOString().slice(0, 19).replace('T', ' ')}`
}

/**
 * A length in minutes and seconds, or hours, minutes and seconds: `3:05`, `1:00:00`. Fractions are cut off.
 */
export function lengthText(lengthMs: number): string {
  const seconds = Math.floor(lengthMs / 1_000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`
}

/** Two digits. */
export const two = (value: number) => String(value).padStart(2, '0')
