import type { ReactiveControllerHost } from 'lit'

import { dropIndex } from './drop-place.ts'

/** A row that is being dragged. */
export interface Dragged {
  readonly from: number
  readonly to: number
  readonly dy: number
  readonly height: number
}

export interface RowDrag {
  readonly dragged: Dragged | null
  /** Begins, at a `pointerdown` on the grip of the row with this index. */
  readonly start: (event: PointerEvent, index: number) => void
}

/** This near to its edges the window moves along. */
const edgePixels = 56
const scrollPixels = 12

/**
 * Lets rows be dragged, by mouse and by touch, on their grips. `rows` are those that can change places, in
 * order; `drop` is told of a row that was let go at another place. Escape lets it go where it was.
 */
export function rowDragFor(
  host: ReactiveControllerHost,
  rows: () => readonly HTMLElement[],
  drop: (from: number, to: number) => void
): RowDrag {
  let dragged: Dragged | null = null
  let stop = nothing

  function start(event: PointerEvent, from: number): void {
    const grip = event.currentTarget
    if (event.button !== 0 || !(grip instanceof HTMLElement)) return
    event.preventDefault()
    grip.focus()
    const startY = event.clientY + scrollY
    const heights = rows().map(row => row.offsetHeight)
    const height = heights[from] ?? 0
    grip.setPointerCapture(event.pointerId)

    const move = ({ clientY }: PointerEvent) => {
      if (clientY < edgePixels) scrollBy(0, -scrollPixels)
      if (clientY > innerHeight - edgePixels) scrollBy(0, scrollPixels)
      const dy = clientY + scrollY - startY
      dragged = { from, to: dropIndex(heights, from, dy), dy, height }
      host.requestUpdate()
    }
    const end = (isDropped: boolean) => () => {
      const last = dragged
      stop()
      if (isDropped && last !== null && last.to !== from) drop(from, last.to)
    }
    const letGo = end(true)
    const giveUp = end(false)
    const onKey = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') giveUp()
    }
    grip.addEventListener('pointermove', move)
    grip.addEventListener('pointerup', letGo)
    grip.addEventListener('pointercancel', giveUp)
    grip.addEventListener('lostpointercapture', giveUp)
    grip.addEventListener('keydown', onKey)
    stop = () => {
      grip.removeEventListener('pointermove', move)
      grip.removeEventListener('pointerup', letGo)
      grip.removeEventListener('pointercancel', giveUp)
      grip.removeEventListener('lostpointercapture', giveUp)
      grip.removeEventListener('keydown', onKey)
      stop = nothing
      dragged = null
      host.requestUpdate()
    }
  }

  host.addController({ hostDisconnected: () => stop() })
  return {
    get dragged() {
      return dragged
    },
    start
  }
}

const nothing = () => {}

/** How far a row is out of its place while another is dragged, as a style. */
export function shiftOf(index: number, dragged: Dragged | null): string {
  if (dragged === null) return ''
  const { from, to, dy, height } = dragged
  if (index === from) return `transform: translateY(${dy}px)`
  if (index > from && index <= to) return `transform: translateY(-${height}px)`
  if (index < from && index >= to) return `transform: translateY(${height}px)`
  return ''
}
