import type { Playlist } from '../api/responses.ts'
import { addDaysToDate, minutesPerDay } from './week-layout.ts'

/** A schedule item of the API: times as HHMM numbers, ISO days (empty: every day), dates or ''. */
export type ApiScheduleItem = Playlist['schedule_items'][number]

/** Times are multiples of this; also the least length, and that of an item with equal times. */
export const scheduleStepMinutes = 15
const maxMinutes = minutesPerDay - scheduleStepMinutes

export const hhmmToMinutes = (hhmm: number): number => Math.floor(hhmm / 100) * 60 + (hhmm % 100)
export const minutesToHhmm = (minutes: number): number => Math.floor(minutes / 60) * 100 + (minutes % 60)

const wrap = (minutes: number) => ((minutes % minutesPerDay) + minutesPerDay) % minutesPerDay

/** The length on a clock that does not change. */
export function itemLengthMinutes({ start_time: start, end_time: end }: ApiScheduleItem): number {
  return start === end ? scheduleStepMinutes : wrap(hhmmToMinutes(end) - hhmmToMinutes(start))
}

/** The ISO weekday of a date: 1 is Monday. */
export const isoWeekday = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay() || 7

/** A new item on the weekday of a date. Minutes are those of the day; the end may be on the next day. */
export function createScheduleItem(date: string, fromMinute: number, toMinute: number): ApiScheduleItem {
  const length = Math.min(Math.max(scheduleStepMinutes, toMinute - fromMinute), maxMinutes)
  return {
    id: 0,
    start_time: minutesToHhmm(wrap(fromMinute)),
    end_time: minutesToHhmm(wrap(fromMinute + length)),
    start_date: '',
    end_date: '',
    days: [isoWeekday(date)],
    loop_once: false
  }
}

/** Moves an item. All its days and dates move, so moving it back restores it. */
export function moveScheduleItem(item: ApiScheduleItem, days: number, minutes: number): ApiScheduleItem {
  const length = itemLengthMinutes(item)
  const start = hhmmToMinutes(item.start_time) + minutes
  return {
    ...shiftDays(item, days + Math.floor(start / minutesPerDay)),
    start_time: minutesToHhmm(wrap(start)),
    end_time: minutesToHhmm(wrap(start + length))
  }
}

/** Moves the start or the end of an item; its length stays between 15 minutes and 23:45. */
export function resizeScheduleItem(
  item: ApiScheduleItem,
  edge: 'start' | 'end',
  minutes: number
): ApiScheduleItem {
  const before = itemLengthMinutes(item)
  const length = Math.min(
    Math.max(scheduleStepMinutes, before + (edge === 'end' ? minutes : -minutes)),
    maxMinutes
  )
  if (edge === 'end')
    return { ...item, end_time: minutesToHhmm(wrap(hhmmToMinutes(item.start_time) + length)) }
  const start = hhmmToMinutes(item.start_time) + before - length
  const end_time = minutesToHhmm(wrap(start + length))
  return {
    ...shiftDays(item, Math.floor(start / minutesPerDay)),
    start_time: minutesToHhmm(wrap(start)),
    end_time
  }
}

function shiftDays(item: ApiScheduleItem, days: number): ApiScheduleItem {
  if (days === 0) return item
  const shiftDate = (date: string) => (date === '' ? '' : addDaysToDate(date, days))
  return {
    ...item,
    days: item.days.map(day => ((((day - 1 + days) % 7) + 7) % 7) + 1).toSorted((a, b) => a - b),
    start_date: shiftDate(item.start_date),
    end_date: shiftDate(item.end_date)
  }
}

/** Whether an item begins on a date. The end date of an overnight item is the date on which it ends. */
export function itemBeginsOn(item: ApiScheduleItem, date: string): boolean {
  const { start_time: start, end_time: end, start_date: first, end_date: last, days } = item
  if (days.length > 0 && !days.includes(isoWeekday(date))) return false
  const endsNextDay = 0 < end && end < start && first !== last
  const lastDate = last !== '' && endsNextDay ? addDaysToDate(last, -1) : last
  return (first === '' || first <= date) && (lastDate === '' || date <= lastDate)
}
