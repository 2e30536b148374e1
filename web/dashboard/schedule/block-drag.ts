import type { ReactiveControllerHost } from 'lit'

import { stepMinutes } from './schedule-item.ts'
import { minutesPerDay } from './week.ts'

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
  const minutes = Math.round((((to.y - from.y) / height) * minutesPerDay) / stepMinutes) * stepMinutes
  return { days: dayAt(to.x) - dayAt(from.x), minutes: minutes || 0 }
}

/** The minute of the day at a height of a lane, rounded down to 15 minutes. */
export function minuteAt(offsetY: number, height: number): number {
  const minute = Math.floor(((offsetY / height) * minutesPerDay) / stepMinutes) * stepMinutes
  return Math.min(Math.max(0, minute), minutesPerDay - stepMinutes)
}

interface DragCallbacks {
  readonly onMove: (offset: GridOffset) => void
  /** Called once. `isDropped` false: the drag was cancelled, by Escape for example. */
  readonly onEnd: (isDropped: boolean) => void
}

/** Follows a pointer over the lanes of a grid, by mouse, pen or touch. Escape cancels. */
export function openBlockDrag(host: ReactiveControllerHost & HTMLElement, findLanes: () => HTMLElement[]) {
  let cancel = () => {}

  host.addController({ hostDisconnected: () => cancel() })
  return {
    /** Starts at a `pointerdown`. The pointer is captured by the grid, because blocks are rendered anew. */
    start(event: PointerEvent, grid: HTMLElement, { onMove, onEnd }: DragCallbacks): void {
      cancel()
      const aborter = new AbortController()
      const { signal } = aborter
      const from = { x: event.clientX, y: event.clientY + scrollY }
      const lanes = findLanes().map(lane => lane.getBoundingClientRect())
      const end = (isDropped: boolean) => {
        aborter.abort()
        cancel = () => {}
        onEnd(isDropped)
      }
      cancel = () => end(false)
      grid.setPointerCapture(event.pointerId)
      grid.addEventListener(
        'pointermove',
        ({ clientX, clientY }) => onMove(toGridOffset(lanes, from, { x: clientX, y: clientY + scrollY })),
        { signal }
      )
      grid.addEventListener('pointerup', () => end(true), { signal })
      grid.addEventListener('pointercancel', () => end(false), { signal })
      document.addEventListener('keydown', ({ key }) => void (key === 'Escape' && end(false)), { signal })
    }
  }
}
