import { html, nothing } from 'lit'
import * as v from 'valibot'

import { pollResource } from '../api/poll-resource.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { formatMinuteOfDay, formatZoneName } from '../ui/time.ts'
import { addDays, type DayLayout, layOutWeek, minutesPerDay, mondayOf, type CalendarBlock } from './week.ts'

const dayMs = 86_400_000
const hueCount = 8
const labeledHours = [0, 6, 12, 18]

const occurrencesSchema = v.array(
  v.object({ id: v.number(), name: v.string(), start: v.string(), end: v.string() })
)

/** The scheduled playlists of a station in a week, in the time zone of the station. */
export class StationSchedule extends StationElement {
  static override properties = reactiveProperties('weekOffset')
  /** Weeks from the current one. */
  weekOffset = 0

  readonly #occurrences = pollResource(this, {
    schema: occurrencesSchema,
    path: () => {
      // Two more days than a week cover every UTC offset; the layout ignores those outside the week.
      const fromSeconds = (Date.parse(`${this.#monday}T00:00:00Z`) - dayMs) / 1_000
      return `${this.path}/schedule?days=9&rows=500&now=${fromSeconds}`
    },
    intervalMs: 10_000
  })

  get #monday(): string {
    return addDays(mondayOf(this.clock.formatDate(Date.now())), 7 * this.weekOffset)
  }

  protected override render() {
    const { value } = this.#occurrences
    const names = [...new Set(value?.map(({ name }) => name))].toSorted()
    return html`<section class="panel" aria-labelledby="week">
      <header class="panel-head">
        <div>
          <h2 class="heading" id="week">Week</h2>
          <p class="quiet">Time zone: ${formatZoneName(this.clock.zone)}</p>
        </div>
        <div class="button-row">
          ${buttonView('‹', () => this.weekOffset--, { label: 'Previous week' })}
          ${buttonView('This week', () => (this.weekOffset = 0), { isDisabled: this.weekOffset === 0 })}
          ${buttonView('›', () => this.weekOffset++, { label: 'Next week' })}
        </div>
      </header>
      ${loadStateView(this.#occurrences)}
      <div class="week">
        <div class="week-hours" aria-hidden="true">
          ${labeledHours.map(hour => html`<span .style=${topStyle(hour * 60)}>${formatMinuteOfDay(hour * 60)}</span>`)}
        </div>
        ${layOutWeek(value ?? [], this.#monday).map(day => this.#dayView(day, names))}
      </div>
      ${
        value !== null && names.length === 0
          ? html`<p class="quiet">No playlist has a schedule: the rotation plays all week.</p>`
          : nothing
      }
    </section>`
  }

  /** A day is a column of hours; in narrow windows and for screen readers, a list. */
  #dayView({ date, showings }: DayLayout, names: readonly string[]) {
    const nowMs = Date.now()
    const isToday = date === this.clock.formatDate(nowMs)
    const nowStyle = topStyle(this.clock.minuteOfDay(nowMs))
    return html`<section class="week-day" ?data-today=${isToday} aria-label=${formatDay(date, 'long')}>
      <h4 class="week-date" aria-hidden="true">${formatDay(date, 'short')}</h4>
      <ol class="week-lane">
        ${showings.map(showing => calendarBlockView(showing, names.indexOf(showing.name) % hueCount))}
        ${isToday ? html`<li class="week-now" aria-hidden="true" .style=${nowStyle}></li>` : nothing}
      </ol>
      ${showings.length === 0 ? html`<p class="week-empty quiet">Nothing scheduled</p>` : nothing}
    </section>`
  }
}

function calendarBlockView(
  { name, text, fromMinute, toMinute, lane, width, lanes }: CalendarBlock,
  hue: number
) {
  const style = [
    topStyle(fromMinute),
    `--height: ${formatPercent((toMinute - fromMinute) / minutesPerDay)}`,
    `--left: ${formatPercent(lane / lanes)}`,
    `--width: ${formatPercent(width / lanes)}`
  ].join('; ')
  return html`<li class="showing" data-hue=${hue} title="${name}, ${text}" .style=${style}>
    <span class="showing-time">${text}</span> <bdi class="showing-name">${name}</bdi>
  </li>`
}

const topStyle = (minute: number) => `--top: ${formatPercent(minute / minutesPerDay)}`
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
