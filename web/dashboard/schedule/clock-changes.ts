import { formatMinuteOfDay, getZoneClock } from '../ui/time.ts'
import { addDaysToDate, minutesPerDay } from './week-layout.ts'

/** A local time that clocks skip or repeat on a date. */
export interface WeekClockChange {
  readonly date: string
  readonly kind: 'skipped' | 'repeated'
  readonly fromMinute: number
  readonly toMinute: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** Finds the clock changes in the week from a Monday. */
export function findWeekClockChanges(zone: string, monday: string): WeekClockChange[] {
  const clock = getZoneClock(zone)
  const offsetAt = (ms: number) =>
    Date.parse(`${clock.formatDate(ms)}T00:00:00Z`) + clock.minuteOfDay(ms) * minuteMs - ms
  // Zones are at most 14 hours from UTC.
  const fromMs = Date.parse(`${monday}T00:00:00Z`) - 14 * hourMs
  const untilMs = Date.parse(`${addDaysToDate(monday, 7)}T00:00:00Z`) + 14 * hourMs
  const changes: WeekClockChange[] = []
  for (let atMs = fromMs; atMs < untilMs; atMs += hourMs) {
    if (offsetAt(atMs) === offsetAt(atMs + hourMs)) continue
    let changeMs = atMs + minuteMs
    while (offsetAt(changeMs) === offsetAt(atMs)) changeMs += minuteMs
    const [before, after] = [changeMs + offsetAt(atMs), changeMs + offsetAt(changeMs)]
    const [firstMs, lastMs] = [Math.min(before, after), Math.max(before, after)]
    const date = new Date(firstMs).toISOString().slice(0, 10)
    const fromMinute = (firstMs - Date.parse(`${date}T00:00:00Z`)) / minuteMs
    const toMinute = Math.min(minutesPerDay, fromMinute + (lastMs - firstMs) / minuteMs)
    changes.push({ date, kind: after > before ? 'skipped' : 'repeated', fromMinute, toMinute })
  }
  return changes.filter(({ date }) => monday <= date && date < addDaysToDate(monday, 7))
}

export function describeClockChange({ kind, fromMinute, toMinute }: WeekClockChange): string {
  const times = `${formatMinuteOfDay(fromMinute)}–${formatMinuteOfDay(toMinute % minutesPerDay)}`
  return kind === 'skipped' ? `Clocks skip ${times}` : `Clocks show ${times} twice`
}
