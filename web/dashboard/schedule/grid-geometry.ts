import { scheduleStepMinutes } from './schedule-item.ts'
import { minutesPerDay } from './week-layout.ts'

/** How far a pointer was dragged on the grid: whole days and steps of 15 minutes. */
export interface GridOffset {
  readonly days: number
  readonly minutes: number
}

interface Lane {
  readonly left: number
  readonly right: number
  readonly height: number
}

/** Converts pixels on the grid. The day is that of the lane under the pointer, or the nearest one. */
export function toGridOffset(
  lanes: readonly Lane[],
  from: { readonly x: number; readonly y: number },
  to: { readonly x: number; readonly y: number }
): GridOffset {
  const dayAt = (x: number) => {
    const passed = lanes.filter(({ right }) => x >= right).length
    return Math.min(passed, lanes.length - 1)
  }
  const height = lanes[0]?.height ?? 1
  const minutes =
    Math.round((((to.y - from.y) / height) * minutesPerDay) / scheduleStepMinutes) * scheduleStepMinutes
  return { days: dayAt(to.x) - dayAt(from.x), minutes: minutes || 0 }
}

/** The minute of the day at a height of a lane, rounded down to 15 minutes. */
export function gridMinuteAt(offsetY: number, height: number): number {
  const minute = Math.floor(((offsetY / height) * minutesPerDay) / scheduleStepMinutes) * scheduleStepMinutes
  return Math.min(Math.max(0, minute), minutesPerDay - scheduleStepMinutes)
}
