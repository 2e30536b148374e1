import { isCounted, type Playlist, type Slot } from './library.ts'
import { dayMs, dayOf, hourMs, minuteMs, weekday, type Zone } from './zone.ts'

/** When a playlist is on, in the station's time zone. */
export interface ScheduleItem {
  readonly id: number
  /**
   * HHMM as a number: 930 is 09:30. Start after end goes over midnight; equal times mean once at that time.
   */
  readonly start_time: number
  readonly end_time: number
  /** `YYYY-MM-DD`, or empty for no limit. */
  readonly start_date: string
  readonly end_date: string
  /** ISO days on which it begins, 1 is Monday; empty means every day. */
  readonly days: readonly number[]
  readonly loop_once: boolean
}

/** One opening of a schedule item: from its start (inclusive) to its end (exclusive). */
export interface Window {
  readonly item: ScheduleItem
  readonly startMs: number
  readonly endMs: number
}

/** How long an item with equal times is open. */
const onceMs = 15 * minuteMs

/** Nobody plans further ahead, and no range costs more. */
const horizonMs = 366 * dayMs

/**
 * The window that an item opens on a local date; null when that is none of its days or the clock skips all of
 * it. An item that is on for nearly 24 hours could meet its next window when the clock goes back: it ends
 * there.
 */
export function windowOf(zone: Zone, item: ScheduleItem, day: number): Window | null {
  if (!opensOn(item, day)) return null
  const startMs = zone.instant(day, item.start_time, 'first')
  const closesMs = closing(zone, item, day, startMs)
  const nextMs = zone.instant(day + 1, item.start_time, 'first')
  const endMs = nextMs < closesMs && opensOn(item, day + 1) ? nextMs : closesMs
  return startMs < endMs ? { item, startMs, endMs } : null
}

function closing(zone: Zone, item: ScheduleItem, day: number, startMs: number): number {
  if (item.start_time === item.end_time) return startMs + onceMs
  return zone.instant(item.start_time < item.end_time ? day : day + 1, item.end_time, 'second')
}

function opensOn(item: ScheduleItem, day: number): boolean {
  if (item.days.length > 0 && !item.days.includes(weekday(day))) return false
  if (item.start_date === '' && item.end_date === '') return true
  const { first, last } = datesOf(item)
  return first <= day && day <= last
}

interface Dates {
  readonly first: number
  readonly last: number
}

const knownDates = new WeakMap<ScheduleItem, Dates>()

/**
 * The dates between which an item opens; read once for each item, since they are asked for much more often.
 */
function datesOf(item: ScheduleItem): Dates {
  const known = knownDates.get(item)
  if (known) return known
  const { start_time, end_time, start_date, end_date } = item
  // A night counts to the date on which it ends, unless only one date is named: then it is the night after
  // that.
  const endsNextDay = 0 < end_time && end_time < start_time && start_date !== end_date
  const dates = {
    first: start_date === '' ? -Infinity : dayOf(start_date),
    last: end_date === '' ? Infinity : dayOf(end_date) - (endsNextDay ? 1 : 0)
  }
  knownDates.set(item, dates)
  return dates
}

/**
 * The dates of all windows that may touch a range. Those on the edges are for a clock that goes back over
 * midnight.
 */
function datesTouching(zone: Zone, fromMs: number, toMs: number): { first: number; last: number } {
  return { first: zone.localDay(fromMs) - 2, last: zone.localDay(toMs) + 1 }
}

/**
 * The window that is open at an instant, null if there is none. Of several it is the one that began last, of
 * those that began together the one whose item is listed first.
 */
export function windowAt(zone: Zone, items: readonly ScheduleItem[], atMs: number): Window | null {
  const { first, last } = datesTouching(zone, atMs, atMs)
  let open: Window | null = null
  for (const item of items) {
    for (let day = first; day <= last; day++) {
      const window = windowOf(zone, item, day)
      if (!window || atMs < window.startMs || window.endMs <= atMs) continue
      if (!open || open.startMs < window.startMs) open = window
    }
  }
  return open
}

/**
 * All windows that overlap a range (from inclusive, to exclusive), by their start; those that start together
 * in the order of the items. The range is cut after 366 days.
 */
export function windowsBetween(
  zone: Zone,
  items: readonly ScheduleItem[],
  fromMs: number,
  toMs: number
): Window[] {
  const untilMs = Math.min(toMs, fromMs + horizonMs)
  const { first, last } = datesTouching(zone, fromMs, untilMs)
  const windows: Window[] = []
  // Item by item: where the calendar skips a date, windows of two dates begin together.
  for (const item of items) {
    for (let day = first; day <= last; day++) {
      const window = windowOf(zone, item, day)
      if (window && Math.max(window.startMs, fromMs) < Math.min(window.endMs, untilMs)) windows.push(window)
    }
  }
  return windows.toSorted((a, b) => a.startMs - b.startMs)
}

/**
 * The next start of a window after an instant (not at it); null if there is none within the time given
 * (inclusive) or within 366 days.
 */
export function nextOpening(
  zone: Zone,
  items: readonly ScheduleItem[],
  afterMs: number,
  withinMs: number
): number | null {
  const untilMs = afterMs + Math.min(withinMs, horizonMs)
  const { first, last } = datesTouching(zone, afterMs, untilMs)
  for (let day = first; day <= last; day++) {
    let openingMs = Infinity
    for (const item of items) {
      const startMs = windowOf(zone, item, day)?.startMs ?? Infinity
      if (startMs > afterMs) openingMs = Math.min(openingMs, startMs)
    }
    // No later date opens earlier.
    if (openingMs < Infinity) return openingMs <= untilMs ? openingMs : null
  }
  return null
}

/** The newest instant, this one included, at which the local clock turns to a minute (0 to 59) of an hour. */
export function hourlyTarget(zone: Zone, minute: number, atMs: number): number {
  const { fromMs, offsetMs } = zone.span(atMs)
  const aheadMs = offsetMs - minute * minuteMs
  const targetMs = Math.floor((atMs + aheadMs) / hourMs) * hourMs - aheadMs
  return targetMs < fromMs ? hourlyTarget(zone, minute, fromMs - 1) : targetMs
}

/** The first instant after this one at which the local clock turns to a minute (0 to 59) of an hour. */
export function nextHourlyTarget(zone: Zone, minute: number, afterMs: number): number {
  return hourlyTargetFrom(zone, minute, Math.floor(afterMs) + 1)
}

function hourlyTargetFrom(zone: Zone, minute: number, fromMs: number): number {
  const { untilMs, offsetMs } = zone.span(fromMs)
  const aheadMs = offsetMs - minute * minuteMs
  const targetMs = Math.ceil((fromMs + aheadMs) / hourMs) * hourMs - aheadMs
  return targetMs < untilMs ? targetMs : hourlyTargetFrom(zone, minute, untilMs)
}

/** Whether each track of the list is to be heard once in a window, from the top. */
export function loopsOnce({ options }: Playlist, { item }: Window): boolean {
  return item.loop_once || options.has('loop_once')
}

/**
 * The tracks of a playlist that were played in a window. What an operator took out of a sequence is one of
 * them, or it would come straight back.
 */
export function playedIn({ id, order }: Playlist, { library, ahead }: Slot, window: Window): Set<number> {
  const { plays, refused } = library.past
  const played = new Set<number>()
  for (const rows of [plays, ahead, order === 'sequential' ? refused : []])
    for (const row of rows)
      if (row.playlistId === id && row.trackId !== null && row.startsAtMs >= window.startMs)
        played.add(row.trackId)
  return played
}

export function isLoopDone(playlist: Playlist, slot: Slot, window: Window): boolean {
  const played = playedIn(playlist, slot, window)
  return playlist.tracks.ids.every((id, index) => played.has(id) || !isCounted(playlist, index))
}
