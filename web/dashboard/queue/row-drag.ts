import type { ReactiveControllerHost } from 'lit'

import { findDropIndex } from './row-order.ts'

/** The dragged row: its index, the index where it would be dropped, its offset and height in pixels. */
interface DraggedRow {
  readonly from: number
  readonly to: number
  readonly dy: number
  readonly height: number
}

/** The window scrolls while the pointer is this close to its top or bottom. */
const scrollZonePixels = 56
const scrollPixels = 12

/**
 * Lets rows be dragged by their grips, by mouse or touch. `rows` are the movable rows in order; `onDrop` is
 * called when a row is dropped at another index. Escape cancels.
 */
export function openRowDrag(
  host: ReactiveControllerHost,
  rows: () => readonly HTMLElement[],
  onDrop: (from: number, to: number) => void
) {
  const drag: { dragged: DraggedRow | null; readonly start: typeof start } = { dragged: null, start }
  let aborter = new AbortController()

  function stop(): void {
    aborter.abort()
    if (drag.dragged === null) return
    drag.dragged = null
    host.requestUpdate()
  }

  /** Starts at a `pointerdown` on the grip of the row with this index. */
  function start(event: PointerEvent, from: number): void {
    const grip = event.currentTarget
    if (event.button !== 0 || !(grip instanceof HTMLElement)) return
    event.preventDefault()
    grip.focus()
    const startY = event.clientY + scrollY
    const heights = rows().map(row => row.offsetHeight)
    const height = heights[from] ?? 0
    grip.setPointerCapture(event.pointerId)
    aborter.abort()
    aborter = new AbortController()
    const { signal } = aborter

    const move = ({ clientY }: PointerEvent) => {
      if (clientY < scrollZonePixels) scrollBy(0, -scrollPixels)
      if (clientY > innerHeight - scrollZonePixels) scrollBy(0, scrollPixels)
      const dy = clientY + scrollY - startY
      drag.dragged = { from, to: findDropIndex(heights, from, dy), dy, height }
      host.requestUpdate()
    }
    const drop = () => {
      const to = drag.dragged?.to ?? from
      stop()
      if (to !== from) onDrop(from, to)
    }
    const cancelByKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') stop()
    }
    grip.addEventListener('pointermove', move, { signal })
    grip.addEventListener('pointerup', drop, { signal })
    grip.addEventListener('pointercancel', stop, { signal })
    grip.addEventListener('lostpointercapture', stop, { signal })
    grip.addEventListener('keydown', cancelByKey, { signal })
  }

  host.addController({ hostDisconnected: stop })
  return drag
}

/** The style of a row while one is dragged. */
export function draggedRowStyle(index: number, dragged: DraggedRow | null): string {
  if (dragged === null) return ''
  const { from, to, dy, height } = dragged
  if (index === from) return `transform: translateY(${dy}px)`
  if (index > from && index <= to) return `transform: translateY(-${height}px)`
  if (index < from && index >= to) return `transform: translateY(${height}px)`
  return ''
}
