import { formatMinuteOfDay } from '../ui/time.ts'

/** An occurrence of a scheduled playlist. `start` and `end` are local times, `2026-03-29T03:00:00+02:00`. */
export interface ScheduleOccurrence {
  readonly id: number
  readonly name: string
  readonly start: string
  readonly end: string
}

/** The part of an occurrence that is on one day, in minutes of that day, with its place in the layout. */
export interface CalendarBlock<Of extends ScheduleOccurrence = ScheduleOccurrence> {
  readonly occurrence: Of
  readonly name: string
  readonly fromMinute: number
  readonly toMinute: number
  /** `22:00–02:00`; on later days of the occurrence `until 02:00`. */
  readonly text: string
  /** The lane of simultaneous showings, from 0, and the number of lanes that it is wide. */
  readonly lane: number
  readonly width: number
  readonly lanes: number
}

export interface DayLayout<Of extends ScheduleOccurrence = ScheduleOccurrence> {
  /** `2026-11-22` */
  readonly date: string
  readonly showings: readonly CalendarBlock<Of>[]
}

export const minutesPerDay = 1_440
/** The least height of a showing. Occurrences may be shorter; when clocks go back, the end may be earlier. */
const minMinutes = 15

export function addDaysToDate(date: string, days: number): string {
  const midnight = new Date(`${date}T00:00:00Z`)
  midnight.setUTCDate(midnight.getUTCDate() + days)
  return midnight.toISOString().slice(0, 10)
}

/** Returns the Monday on or before a date. */
export function mondayOf(date: string): string {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  return addDaysToDate(date, -((weekday + 6) % 7))
}

/** Lays out the seven days from `firstDate`. */
export const layOutWeek = <Of extends ScheduleOccurrence>(
  occurrences: readonly Of[],
  firstDate: string
): DayLayout<Of>[] =>
  Array.from({ length: 7 }, (_, index) => {
    const date = addDaysToDate(firstDate, index)
    return { date, showings: assignLanes(occurrences.flatMap(occurrence => clipToDay(occurrence, date))) }
  })

type DayPart<Of extends ScheduleOccurrence> = Omit<CalendarBlock<Of>, 'lane' | 'width' | 'lanes'>

/** Returns the part of an occurrence on a date, or an empty list. */
function clipToDay<Of extends ScheduleOccurrence>(occurrence: Of, date: string): DayPart<Of>[] {
  const { name, start, end } = occurrence
  const [startDate, endDate] = [start.slice(0, 10), end.slice(0, 10)]
  if (date < startDate || date > endDate) return []
  const from = date === startDate ? minuteOf(start) : 0
  const to = date === endDate ? minuteOf(end) : minutesPerDay
  // The occurrence ended at midnight.
  if (to === 0 && date !== startDate) return []
  const fromMinute = Math.min(from, minutesPerDay - minMinutes)
  const toMinute = Math.max(to, fromMinute + minMinutes)
  return [{ occurrence, name, fromMinute, toMinute, text: formatPart(start, end, date) }]
}

function formatPart(start: string, end: string, date: string): string {
  const endText = formatMinuteOfDay(minuteOf(end))
  if (date === start.slice(0, 10)) return `${formatMinuteOfDay(minuteOf(start))}–${endText}`
  const endsAtMidnight = minuteOf(end) === 0 && end.slice(0, 10) === addDaysToDate(date, 1)
  return date === end.slice(0, 10) || endsAtMidnight ? `until ${endText}` : 'all day'
}

const minuteOf = (local: string) => Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16))

interface PlacedPart<Of extends ScheduleOccurrence> {
  readonly part: DayPart<Of>
  readonly lane: number
}

/** Places simultaneous parts beside each other, each in the first free lane and as wide as possible. */
function assignLanes<Of extends ScheduleOccurrence>(parts: readonly DayPart<Of>[]): CalendarBlock<Of>[] {
  const sorted = parts.toSorted(
    (one, other) => one.fromMinute - other.fromMinute || other.toMinute - one.toMinute
  )
  const groups: PlacedPart<Of>[][] = []
  let laneEnds: number[] = []
  for (const part of sorted) {
    if (laneEnds.every(end => end <= part.fromMinute)) {
      laneEnds = []
      groups.push([])
    }
    const free = laneEnds.findIndex(end => end <= part.fromMinute)
    const lane = free === -1 ? laneEnds.length : free
    laneEnds[lane] = part.toMinute
    groups.at(-1)?.push({ part, lane })
  }
  return groups.flatMap(group => {
    const lanes = Math.max(...group.map(({ lane }) => lane)) + 1
    return group.map(placed => ({
      ...placed.part,
      lane: placed.lane,
      width: findWidth(placed, group, lanes),
      lanes
    }))
  })
}

/** A part extends over the lanes to its right that are free for its whole time. */
function findWidth<Of extends ScheduleOccurrence>(
  { part, lane }: PlacedPart<Of>,
  group: readonly PlacedPart<Of>[],
  lanes: number
): number {
  const blocking = group.filter(
    each => each.lane > lane && each.part.fromMinute < part.toMinute && part.fromMinute < each.part.toMinute
  )
  return Math.min(lanes, ...blocking.map(each => each.lane)) - lane
}
