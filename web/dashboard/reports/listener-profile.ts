import type { ListenerSeries } from '../api/responses.ts'
import { isoWeekday } from '../schedule/schedule-item.ts'

/** The listeners of a day, an hour of the day or a weekday. */
export interface ListenerGroup {
  /** `2026-11-22`, an hour from 0, or an ISO weekday from 1. */
  readonly key: string
  readonly average: number
  readonly peak: number
}

export interface ListenerProfile {
  readonly days: readonly ListenerGroup[]
  readonly hours: readonly ListenerGroup[]
  readonly weekdays: readonly ListenerGroup[]
}

/** How times are shown: the date and the minute of the day of Unix milliseconds. */
interface Clock {
  readonly formatDate: (ms: number) => string
  readonly minuteOfDay: (ms: number) => number
}

const range = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => String(first + index))

/**
 * Groups points by day, hour of the day and weekday in the time of the clock. Groups without points have no listeners.
 */
export function profileListeners({ points }: ListenerSeries, clock: Clock): ListenerProfile {
  const days = openGroups()
  const hours = openGroups(range(0, 24))
  const weekdays = openGroups(range(1, 7))
  for (const { at, total, most } of points) {
    const date = clock.formatDate(at * 1_000)
    days.add(date, total, most)
    hours.add(String(Math.floor(clock.minuteOfDay(at * 1_000) / 60)), total, most)
    weekdays.add(String(isoWeekday(date)), total, most)
  }
  return { days: days.list(), hours: hours.list(), weekdays: weekdays.list() }
}

function openGroups(keys: readonly string[] = []) {
  const groups = new Map(keys.map(key => [key, { count: 0, sum: 0, peak: 0 }]))
  return {
    add(key: string, total: number, most: number): void {
      const { count, sum, peak } = groups.get(key) ?? { count: 0, sum: 0, peak: 0 }
      groups.set(key, { count: count + 1, sum: sum + total, peak: Math.max(peak, most) })
    },
    list: (): ListenerGroup[] =>
      Array.from(groups, ([key, { count, sum, peak }]) => ({
        key,
        average: count === 0 ? 0 : Math.round((sum / count) * 10) / 10,
        peak
      }))
  }
}
