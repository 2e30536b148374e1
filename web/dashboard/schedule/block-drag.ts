import type { ReactiveControllerHost } from 'lit'

import { type GridOffset, toGridOffset } from './grid-geometry.ts'

interface DragCallbacks {
  readonly onMove: (offset: GridOffset) => void
  /** Called once. `isDropped` false: the drag was cancelled, by Escape for example. */
  readonly onEnd: (isDropped: boolean) => void
}

/** Follows a pointer over the lanes of a grid, by mouse, pen or touch. Escape cancels. */
export function openBlockDrag(host: ReactiveControllerHost & HTMLElement, findLanes: () => HTMLElement[]) {
  let cancel: (() => void) | null = null

  host.addController({ hostDisconnected: () => cancel?.() })
  return {
    /** Starts at a `pointerdown`. The pointer is captured by the grid, because blocks are rendered anew. */
    start(event: PointerEvent, grid: HTMLElement, { onMove, onEnd }: DragCallbacks): void {
      cancel?.()
      const aborter = new AbortController()
      const { signal } = aborter
      const from = { x: event.clientX, y: event.clientY + scrollY }
      const lanes = findLanes().map(lane => lane.getBoundingClientRect())
      const end = (isDropped: boolean) => {
        aborter.abort()
        cancel = null
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
