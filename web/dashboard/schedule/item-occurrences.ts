import { lengthOf, opensOn, type ScheduleItem, toMinutes } from './schedule-item.ts'
import { addDays, minutesPerDay, type Occurrence } from './week.ts'

/** An occurrence of an item, and the local date on which it begins. */
export interface ItemOccurrence extends Occurrence {
  readonly key: string
  readonly date: string
}

const twoDigits = (value: number) => String(value).padStart(2, '0')

const toLocal = (date: string, minutes: number) =>
  `${addDays(date, Math.floor(minutes / minutesPerDay))}T${twoDigits(Math.floor(minutes / 60) % 24)}:${twoDigits(minutes % 60)}:00`

/** The occurrences of items that overlap the week from `monday`, in the time that clocks show. */
export function findOccurrences(
  items: readonly { readonly key: string; readonly name: string; readonly item: ScheduleItem }[],
  monday: string
): ItemOccurrence[] {
  // An occurrence of the evening before may end in this week.
  const dates = Array.from({ length: 8 }, (_, index) => addDays(monday, index - 1))
  return items.flatMap(({ key, name, item }) =>
    dates
      .filter(date => opensOn(item, date))
      .map(date => {
        const from = toMinutes(item.start_time)
        const end = toLocal(date, from + lengthOf(item))
        return { key, id: item.id, name, date, start: toLocal(date, from), end }
      })
  )
}
