import { dayMs, hourMs, minuteMs, parseDayNumber, isoWeekdayOfDay, type TimeZone } from './time-zone.ts'

/** A recurring period, in the time zone of the station. */
export interface ScheduleItem {
  readonly id: number
  /** HHMM as a number: 930 is 09:30. Ends the next day if before the start; equal: 15 minutes. */
  readonly start_time: number
  readonly end_time: number
  /** `YYYY-MM-DD`, or empty for no limit. */
  readonly start_date: string
  readonly end_date: string
  /** ISO weekdays on which it begins, 1 is Monday; empty: every day. */
  readonly days: readonly number[]
  readonly loop_once: boolean
}

/** One occurrence of a schedule item, from its start (inclusive) to its end (exclusive). */
export interface ScheduleWindow {
  readonly item: ScheduleItem
  readonly startMs: number
  readonly endMs: number
}

/** The length of an item with equal times. */
const momentMs = 15 * minuteMs

/** Bounds the cost of a search. */
const horizonMs = 366 * dayMs

/**
 * The window that begins on a local date, or null. A window of almost 24 hours ends where the next one
 * begins.
 */
export function findWindowOnDay(zone: TimeZone, item: ScheduleItem, day: number): ScheduleWindow | null {
  if (!opensOn(item, day)) return null
  const startMs = zone.instant(day, item.start_time, 'first')
  const closesMs = closingMs(zone, item, day, startMs)
  const nextMs = zone.instant(day + 1, item.start_time, 'first')
  const endMs = nextMs < closesMs && opensOn(item, day + 1) ? nextMs : closesMs
  return startMs < endMs ? { item, startMs, endMs } : null
}

function closingMs(zone: TimeZone, item: ScheduleItem, day: number, startMs: number): number {
  if (item.start_time === item.end_time) return startMs + momentMs
  return zone.instant(item.start_time < item.end_time ? day : day + 1, item.end_time, 'second')
}

function opensOn(item: ScheduleItem, day: number): boolean {
  if (item.days.length > 0 && !item.days.includes(isoWeekdayOfDay(day))) return false
  if (item.start_date === '' && item.end_date === '') return true
  const { first, last } = findDates(item)
  return first <= day && day <= last
}

interface DateRange {
  readonly first: number
  readonly last: number
}

const datesByItem = new WeakMap<ScheduleItem, DateRange>()

/** The first and last date on which an item begins. Cached, because it is called very often. */
function findDates(item: ScheduleItem): DateRange {
  const known = datesByItem.get(item)
  if (known) return known
  const { start_time, end_time, start_date, end_date } = item
  // end_date is the date on which the last window ends, unless it equals start_date.
  const endsNextDay = 0 < end_time && end_time < start_time && start_date !== end_date
  const dates = {
    first: start_date === '' ? -Infinity : parseDayNumber(start_date),
    last: end_date === '' ? Infinity : parseDayNumber(end_date) - (endsNextDay ? 1 : 0)
  }
  datesByItem.set(item, dates)
  return dates
}

/** The dates whose windows may overlap a range, with a margin for clocks that go back over midnight. */
function datesTouching(zone: TimeZone, fromMs: number, toMs: number): DateRange {
  return { first: zone.localDay(fromMs) - 2, last: zone.localDay(toMs) + 1 }
}

/** The window at an instant, or null: the one that began last, of equal starts the item listed first. */
export function findWindowAt(
  zone: TimeZone,
  items: readonly ScheduleItem[],
  atMs: number
): ScheduleWindow | null {
  const { first, last } = datesTouching(zone, atMs, atMs)
  let open: ScheduleWindow | null = null
  for (const item of items) {
    for (let day = first; day <= last; day++) {
      const window = findWindowOnDay(zone, item, day)
      if (!window || atMs < window.startMs || window.endMs <= atMs) continue
      if (!open || open.startMs < window.startMs) open = window
    }
  }
  return open
}

/** All windows that overlap a range (to: exclusive; at most 366 days), by start, then by item. */
export function listWindowsBetween(
  zone: TimeZone,
  items: readonly ScheduleItem[],
  fromMs: number,
  toMs: number
): ScheduleWindow[] {
  const untilMs = Math.min(toMs, fromMs + horizonMs)
  const { first, last } = datesTouching(zone, fromMs, untilMs)
  const windows: ScheduleWindow[] = []
  // Item by item: if the calendar skips a date, windows of two dates begin together.
  for (const item of items) {
    for (let day = first; day <= last; day++) {
      const window = findWindowOnDay(zone, item, day)
      if (window && Math.max(window.startMs, fromMs) < Math.min(window.endMs, untilMs)) windows.push(window)
    }
  }
  return windows.toSorted((a, b) => a.startMs - b.startMs)
}

/** The next start of a window after an instant, or null if none is within `withinMs` or 366 days. */
export function findNextWindowStart(
  zone: TimeZone,
  items: readonly ScheduleItem[],
  afterMs: number,
  withinMs: number
): number | null {
  const untilMs = afterMs + Math.min(withinMs, horizonMs)
  const { first, last } = datesTouching(zone, afterMs, untilMs)
  for (let day = first; day <= last; day++) {
    let openingMs = Infinity
    for (const item of items) {
      const startMs = findWindowOnDay(zone, item, day)?.startMs ?? Infinity
      if (startMs > afterMs) openingMs = Math.min(openingMs, startMs)
    }
    // No later date opens earlier.
    if (openingMs < Infinity) return openingMs <= untilMs ? openingMs : null
  }
  return null
}

/** The latest instant up to `atMs` at which the local clock shows a minute of the hour. */
export function lastHourlyTarget(zone: TimeZone, minute: number, atMs: number): number {
  const { fromMs, offsetMs } = zone.span(atMs)
  const aheadMs = offsetMs - minute * minuteMs
  const targetMs = Math.floor((atMs + aheadMs) / hourMs) * hourMs - aheadMs
  return targetMs < fromMs ? lastHourlyTarget(zone, minute, fromMs - 1) : targetMs
}

/** The first instant after `afterMs` at which the local clock shows a minute of the hour. */
export function nextHourlyTarget(zone: TimeZone, minute: number, afterMs: number): number {
  const fromMs = Math.floor(afterMs) + 1
  const { untilMs, offsetMs } = zone.span(fromMs)
  const aheadMs = offsetMs - minute * minuteMs
  const targetMs = Math.ceil((fromMs + aheadMs) / hourMs) * hourMs - aheadMs
  return targetMs < untilMs ? targetMs : nextHourlyTarget(zone, minute, untilMs - 1)
}
