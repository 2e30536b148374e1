import type { ReactiveControllerHost } from 'lit'

import { openBlockDrag } from './block-drag.ts'
import type { ScheduleOwner } from './edited-schedules.ts'
import { type GridOffset, gridMinuteAt } from './grid-geometry.ts'
import type { ItemOccurrence } from './item-occurrences.ts'
import type { ScheduleItemPlace, ScheduleEditor } from './schedule-editor.ts'
import {
  createScheduleItem,
  moveScheduleItem,
  resizeScheduleItem,
  type ApiScheduleItem,
  scheduleStepMinutes
} from './schedule-item.ts'
import { addDaysToDate } from './week-layout.ts'

/** The part of a block, at its top and bottom, that changes its length. */
const edgePixels = 7

/** Draws, moves and resizes the blocks of a calendar with a pointer. `onTap`: a finger taps on an empty place. */
export function openBlockPointer(
  host: ReactiveControllerHost & HTMLElement,
  editor: ScheduleEditor,
  onTap: (date: string, minute: number) => void
) {
  const drag = openBlockDrag(host, () => [...host.querySelectorAll<HTMLElement>('.week-lane')])

  /** Ends the wait for the tap that began with the last finger. */
  let tap = new AbortController()

  /** Waits until a finger leaves where it was; one that scrolls does not tap. */
  function followTap(lane: HTMLElement, minute: number, date: string): void {
    tap.abort()
    tap = new AbortController()
    const { signal } = tap
    const end = () => tap.abort()
    lane.addEventListener('pointercancel', end, { signal })
    // The click comes after the events of a mouse, which would take the focus from the form.
    lane.addEventListener(
      'click',
      () => {
        end()
        onTap(date, minute)
      },
      { signal }
    )
  }

  /** Shows an item while a pointer changes it, and stores it when the pointer is released. */
  function follow(
    event: PointerEvent,
    place: ScheduleItemPlace,
    date: string,
    apply: (offset: GridOffset) => ApiScheduleItem
  ): void {
    const grid = host.querySelector<HTMLElement>('.week')
    if (grid === null) return
    let days = 0
    let hasMoved = false
    drag.start(event, grid, {
      onMove: offset => {
        if (!hasMoved && offset.days === 0 && offset.minutes === 0) return
        hasMoved = true
        days = offset.days
        editor.preview(place, apply(offset))
      },
      onEnd: isDropped => {
        const item = editor.endPreview()
        if (!isDropped || item === null) return
        editor.store(place, item)
        editor.reveal(place, addDaysToDate(date, days))
      }
    })
  }

  return {
    /** Draws a new item of an owner, if the pointer is on an empty place of a lane. A finger taps there, or scrolls. */
    startDrawing(event: PointerEvent, owner: ScheduleOwner | undefined, date: string): void {
      const { target, currentTarget: lane } = event
      const isGrid = lane instanceof HTMLElement && getComputedStyle(lane).position === 'relative'
      if (target !== lane || !isGrid || !owner || event.button !== 0) return
      const from = gridMinuteAt(event.offsetY, lane.offsetHeight)
      if (event.pointerType === 'touch') return followTap(lane, from, date)
      event.preventDefault()
      const index = editor.itemsOf(owner).length
      follow(event, { owner, index }, date, ({ minutes }) =>
        minutes >= 0
          ? createScheduleItem(date, from, from + Math.max(scheduleStepMinutes, minutes))
          : createScheduleItem(date, from + minutes, from)
      )
    },
    /** Moves the item of a block, or its start or end if the pointer is on an edge. */
    startMoving(event: PointerEvent, { key, date }: ItemOccurrence): void {
      const place = editor.findEditable(key)
      const { currentTarget: block } = event
      const isGrid =
        block instanceof HTMLElement &&
        block.parentElement !== null &&
        getComputedStyle(block.parentElement).position === 'absolute'
      if (!place || !isGrid || event.button !== 0) return
      event.preventDefault()
      block.focus()
      editor.select(key)
      const { item } = place
      const edge = findEdge(block, event.clientY)
      follow(event, place, date, ({ days, minutes }) =>
        edge === null ? moveScheduleItem(item, days, minutes) : resizeScheduleItem(item, edge, minutes)
      )
    }
  }
}

/** The end of a block that a pointer touches; null: neither. A short block can only be moved. */
function findEdge(block: HTMLElement, clientY: number): 'start' | 'end' | null {
  const { top, bottom, height } = block.getBoundingClientRect()
  if (height < 3 * edgePixels) return null
  if (clientY - top < edgePixels) return 'start'
  return bottom - clientY < edgePixels ? 'end' : null
}
