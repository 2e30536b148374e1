import { html, nothing } from 'lit'

import { formatMinuteOfDay, type ZoneClock } from '../ui/time.ts'
import type { WeekClockChange } from './clock-changes.ts'
import type { ItemOccurrence } from './item-occurrences.ts'
import { type CalendarBlock, type DayLayout, minutesPerDay } from './week-layout.ts'

const labeledHours = [0, 6, 12, 18]

interface WeekOptions {
  readonly days: readonly DayLayout<ItemOccurrence>[]
  readonly clockChanges: readonly WeekClockChange[]
  readonly clock: ZoneClock
  readonly isEditable: boolean
  /** The key of the selected item; '' for none. */
  readonly selected: string
  /** The number of the color of an item. */
  readonly hueOf: (key: string) => number
  readonly onSelect: (key: string) => void
  /** Adds a period on a day; null if there is nothing to add one to. */
  readonly onAdd: ((date: string) => void) | null
  /** A pointer goes down on a lane or a block in it. */
  readonly onLanePointer: (event: PointerEvent, date: string) => void
  readonly onBlockPointer: (event: PointerEvent, occurrence: ItemOccurrence) => void
  readonly onBlockKey: (event: KeyboardEvent, occurrence: ItemOccurrence) => void
}

/** A week as a calendar: a day is a column of hours; in narrow windows and for screen readers, a list. */
export const weekView = (options: WeekOptions) =>
  html`<div class="week" data-editable=${options.isEditable}>
    <div class="week-hours" aria-hidden="true">
      ${labeledHours.map(
        hour => html`<span .style=${topStyle(hour * 60)}>${formatMinuteOfDay(hour * 60)}</span>`
      )}
    </div>
    ${options.days.map(day => dayView(day, options))}
  </div>`

function dayView({ date, showings }: DayLayout<ItemOccurrence>, options: WeekOptions) {
  const { clock, clockChanges, onAdd } = options
  const nowMs = Date.now()
  const isToday = date === clock.formatDate(nowMs)
  const nowStyle = topStyle(clock.minuteOfDay(nowMs))
  return html`<section class="week-day" ?data-today=${isToday} aria-label=${formatDay(date, 'long')}>
    <div class="week-head">
      <h3 class="week-date" aria-hidden="true">${formatDay(date, 'short')}</h3>
      ${
        onAdd === null
          ? nothing
          : html`<button
              type="button"
              class="week-add"
              aria-label=${`New period on ${formatDay(date, 'long')}`}
              @click=${() => onAdd(date)}
            >
              +
            </button>`
      }
    </div>
    <ol class="week-lane" @pointerdown=${(event: PointerEvent) => options.onLanePointer(event, date)}>
      ${clockChanges
        .filter(change => change.date === date)
        .map(
          ({ kind, fromMinute, toMinute }) =>
            html`<li
              class="clock-change"
              data-kind=${kind}
              aria-hidden="true"
              .style="${topStyle(fromMinute)}; ${heightStyle(fromMinute, toMinute)}"
            ></li>`
        )}
      ${showings.map(showing => blockView(showing, options))}
      ${isToday ? html`<li class="week-now" aria-hidden="true" .style=${nowStyle}></li>` : nothing}
    </ol>
    ${showings.length === 0 ? html`<p class="week-empty quiet">Nothing scheduled</p>` : nothing}
  </section>`
}

function blockView(block: CalendarBlock<ItemOccurrence>, options: WeekOptions) {
  const { occurrence, name, text, fromMinute, toMinute, lane, width, lanes } = block
  const style = [
    topStyle(fromMinute),
    heightStyle(fromMinute, toMinute),
    `--left: ${formatPercent(lane / lanes)}`,
    `--width: ${formatPercent(width / lanes)}`
  ].join('; ')
  return html`<li class="showing" data-hue=${options.hueOf(occurrence.key)} .style=${style}>
    <button
      type="button"
      class="showing-button"
      title="${name}, ${text}"
      data-place=${occurrence.key}
      data-date=${occurrence.date}
      aria-pressed=${occurrence.key === options.selected}
      aria-describedby="block-help"
      @click=${() => options.onSelect(occurrence.key)}
      @pointerdown=${(event: PointerEvent) => options.onBlockPointer(event, occurrence)}
      @keydown=${(event: KeyboardEvent) => options.onBlockKey(event, occurrence)}
    >
      <span class="showing-time">${text}</span> <bdi class="showing-name">${name}</bdi>
    </button>
  </li>`
}

const topStyle = (minute: number) => `--top: ${formatPercent(minute / minutesPerDay)}`
const heightStyle = (fromMinute: number, toMinute: number) =>
  `--height: ${formatPercent((toMinute - fromMinute) / minutesPerDay)}`
const formatPercent = (part: number) => `${(part * 100).toFixed(3)}%`

function formatDay(date: string, width: 'long' | 'short'): string {
  const midnight = new Date(`${date}T00:00:00Z`)
  return midnight.toLocaleDateString(undefined, {
    timeZone: 'UTC',
    weekday: width,
    day: 'numeric',
    month: width
  })
}
