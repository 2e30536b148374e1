import { clockText } from '../ui/clock-text.ts'

/**
 * An opening of a scheduled playlist; `start` and `end` are the station's clock, `2026-03-29T03:00:00+02:00`.
 */
export interface Opening {
  readonly id: number
  readonly name: string
  readonly start: string
  readonly end: string
}

/**
 * What of an opening is on one day: from and to in minutes of that day, beside others that are on at the same
 * time.
 */
export interface Showing {
  readonly name: string
  readonly fromMinute: number
  readonly toMinute: number
  /** As people write it: `22:00–02:00`, and on the days after the first one `until 02:00`. */
  readonly text: string
  /** Its place beside others, from 0, and how many places it takes. */
  readonly lane: number
  readonly width: number
  readonly lanes: number
}

export interface Day {
  /** `2026-11-22` */
  readonly date: string
  readonly showings: readonly Showing[]
}

const dayMinutes = 1_440
/** What is shorter, or ends before it began because the clock went back, could not be seen. */
const leastMinutes = 15

/** A date some days on. */
export function dateAfter(date: string, days: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() + days)
  return at.toISOString().slice(0, 10)
}

/** The Monday on or before a date. */
export function mondayOf(date: string): string {
  const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
  return dateAfter(date, -((weekday + 6) % 7))
}

/** What is on when in the seven days from a date on. */
export function weekOf(openings: readonly Opening[], firstDate: string): Day[] {
  return Array.from({ length: 7 }, (_, index) => {
    const date = dateAfter(firstDate, index)
    return { date, showings: inLanes(openings.flatMap(opening => partOn(opening, date))) }
  })
}

type Part = Omit<Showing, 'lane' | 'width' | 'lanes'>

function partOn({ name, start, end }: Opening, date: string): Part[] {
  const [startDate, endDate] = [start.slice(0, 10), end.slice(0, 10)]
  if (date < startDate || date > endDate) return []
  const from = date === startDate ? minuteOf(start) : 0
  const to = date === endDate ? minuteOf(end) : dayMinutes
  // It ended at midnight.
  if (to === 0 && date !== startDate) return []
  const fromMinute = Math.min(from, dayMinutes - leastMinutes)
  const toMinute = Math.max(to, fromMinute + leastMinutes)
  return [{ name, fromMinute, toMinute, text: partText(start, end, date) }]
}

function partText(start: string, end: string, date: string): string {
  const endText = clockText(minuteOf(end))
  if (date === start.slice(0, 10)) return `${clockText(minuteOf(start))}–${endText}`
  return date === end.slice(0, 10) || isMidnightAfter(end, date) ? `until ${endText}` : 'all day'
}

const isMidnightAfter = (end: string, date: string) =>
  minuteOf(end) === 0 && end.slice(0, 10) === dateAfter(date, 1)

const minuteOf = (local: string) => Number(local.slice(11, 13)) * 60 + Number(local.slice(14, 16))

interface Placed {
  readonly part: Part
  readonly lane: number
}

/**
 * Puts those that meet beside each other, each in the first lane that is free, and as wide as there is room.
 */
function inLanes(parts: readonly Part[]): Showing[] {
  const sorted = parts.toSorted(
    (one, other) => one.fromMinute - other.fromMinute || other.toMinute - one.toMinute
  )
  const groups: Placed[][] = []
  let ends: number[] = []
  for (const part of sorted) {
    const isApart = ends.every(end => end <= part.fromMinute)
    if (isApart) {
      ends = []
      groups.push([])
    }
    const free = ends.findIndex(end => end <= part.fromMinute)
    const lane = free === -1 ? ends.length : free
    ends[lane] = part.toMinute
    groups.at(-1)?.push({ part, lane })
  }
  return groups.flatMap(group => {
    const lanes = Math.max(...group.map(({ lane }) => lane)) + 1
    return group.map(({ part, lane }) => ({ ...part, lane, width: widthOf(part, lane, group, lanes), lanes }))
  })
}

/** Lanes beside that are free as long as it lasts are its own. */
function widthOf(part: Part, lane: number, group: readonly Placed[], lanes: number): number {
  const beside = group.filter(
    each => each.lane > lane && each.part.fromMinute < part.toMinute && part.fromMinute < each.part.toMinute
  )
  return Math.min(lanes, ...beside.map(each => each.lane)) - lane
}
