import type { GridOffset } from './grid-geometry.ts'
import type { ItemOccurrence } from './item-occurrences.ts'
import type { ScheduleEditor } from './schedule-editor.ts'
import { moveScheduleItem, resizeScheduleItem, scheduleStepMinutes } from './schedule-item.ts'
import { addDaysToDate } from './week-layout.ts'

const keyOffsets: Readonly<Record<string, GridOffset>> = {
  ArrowUp: { days: 0, minutes: -scheduleStepMinutes },
  ArrowDown: { days: 0, minutes: scheduleStepMinutes },
  ArrowLeft: { days: -1, minutes: 0 },
  ArrowRight: { days: 1, minutes: 0 }
}

/** Moves, resizes or removes the item of a block: arrow keys, with Shift its end, with Alt its start, Delete. */
export function changeBlockByKey(
  event: KeyboardEvent,
  editor: ScheduleEditor,
  { key, date }: ItemOccurrence
): void {
  const place = editor.findEditable(key)
  if (!place) return
  if (event.key === 'Delete' || event.key === 'Backspace') {
    event.preventDefault()
    return editor.remove(place)
  }
  const { days, minutes } = keyOffsets[event.key] ?? { days: 0, minutes: 0 }
  if (days === 0 && minutes === 0) return
  event.preventDefault()
  const edge = event.shiftKey ? 'end' : event.altKey ? 'start' : null
  if (edge !== null && minutes === 0) return
  const { item } = place
  editor.store(
    place,
    edge === null ? moveScheduleItem(item, days, minutes) : resizeScheduleItem(item, edge, minutes)
  )
  editor.reveal(place, addDaysToDate(date, days))
}
