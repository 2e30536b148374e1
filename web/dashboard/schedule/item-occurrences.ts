import { itemLengthMinutes, itemBeginsOn, type ApiScheduleItem, hhmmToMinutes } from './schedule-item.ts'
import { addDaysToDate, minutesPerDay, type ScheduleOccurrence } from './week-layout.ts'

/** An occurrence of an item, and the local date on which it begins. */
export interface ItemOccurrence extends ScheduleOccurrence {
  readonly key: string
  readonly date: string
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

const toLocal = (date: string, minutes: number) =>
  `${addDaysToDate(date, Math.floor(minutes / minutesPerDay))}T${twoDigits(Math.floor(minutes / 60) % 24)}:${twoDigits(minutes % 60)}:00`

/** The occurrences of items that overlap the week from `monday`, in the time that clocks show. */
export function findItemOccurrences(
  items: readonly { readonly key: string; readonly name: string; readonly item: ApiScheduleItem }[],
  monday: string
): ItemOccurrence[] {
  // An occurrence of the evening before may end in this week.
  const dates = Array.from({ length: 8 }, (_, index) => addDaysToDate(monday, index - 1))
  return items.flatMap(({ key, name, item }) =>
    dates
      .filter(date => itemBeginsOn(item, date))
      .map(date => {
        const from = hhmmToMinutes(item.start_time)
        const end = toLocal(date, from + itemLengthMinutes(item))
        return { key, id: item.id, name, date, start: toLocal(date, from), end }
      })
  )
}
