import { html, nothing } from 'lit'

import { clockText } from '../ui/clock-text.ts'
import type { Day, Showing } from './week.ts'

/** The moment a week is looked at, by the station's clock. */
export interface Today {
  readonly date: string
  readonly minute: number
}

const dayMinutes = 1_440
const hours = [0, 6, 12, 18]

/**
 * A week as seven columns of hours; on narrow windows, as lists. Each day is a list for those who do not see
 * it. `hueOf` tells the colour of a playlist, which its name stands in as well.
 */
export function weekView(days: readonly Day[], today: Today, hueOf: (name: string) => number) {
  return html`<div class="week">
    <div class="week-hours" aria-hidden="true">
      ${hours.map(hour => html`<span .style=${at(hour * 60)}>${clockText(hour * 60)}</span>`)}
    </div>
    ${days.map(day => dayView(day, today, hueOf))}
  </div>`
}

function dayView({ date, showings }: Day, today: Today, hueOf: (name: string) => number) {
  const isToday = date === today.date
  return html`<section class="week-day" ?data-today=${isToday} aria-label=${dayText(date, 'long')}>
    <h4 class="week-date" aria-hidden="true">${dayText(date, 'short')}</h4>
    <ol class="week-lane">
      ${showings.map(showing => showingView(showing, hueOf))}
      ${isToday ? html`<li class="week-now" aria-hidden="true" .style=${at(today.minute)}></li>` : nothing}
    </ol>
    ${showings.length === 0 ? html`<p class="week-empty quiet">Nothing is scheduled</p>` : nothing}
  </section>`
}

function showingView(showing: Showing, hueOf: (name: string) => number) {
  const { name, text, fromMinute, toMinute, lane, width, lanes } = showing
  const style = [
    at(fromMinute),
    `--height: ${percent((toMinute - fromMinute) / dayMinutes)}`,
    `--left: ${percent(lane / lanes)}`,
    `--width: ${percent(width / lanes)}`
  ].join('; ')
  return html`<li class="showing" data-hue=${hueOf(name)} title="${name}, ${text}" .style=${style}>
    <span class="showing-time">${text}</span> <bdi class="showing-name">${name}</bdi>
  </li>`
}

/** Where it stands, for the style sheet: lists have no use for it. */
const at = (minute: number) => `--top: ${percent(minute / dayMinutes)}`
const percent = (part: number) => `${(part * 100).toFixed(3)}%`

function dayText(date: string, weekday: 'long' | 'short'): string {
  const midnight = new Date(`${date}T00:00:00Z`)
  return midnight.toLocaleDateString(undefined, { timeZone: 'UTC', weekday, day: 'numeric', month: weekday })
}
