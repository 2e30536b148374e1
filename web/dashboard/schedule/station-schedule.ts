import { html, nothing } from 'lit'
import * as v from 'valibot'

import { readFor } from '../api/poll-resource.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { placeName, zoneTime } from '../ui/time.ts'
import { weekView } from './week-view.ts'
import { dateAfter, mondayOf, weekOf } from './week.ts'

const everyMs = 10_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs
const hues = 8

const openings = v.array(v.object({ id: v.number(), name: v.string(), start: v.string(), end: v.string() }))

/** The week of a station: which scheduled playlists are on when, by the clock of the station. */
export class StationSchedule extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    weeks: { state: true }
  }
  declare station: string
  declare zone: string
  /** Which week is shown, counted from this one. */
  declare weeks: number

  readonly #openings = readFor(this, {
    schema: openings,
    path: () => {
      // Clocks may go forth or back within the week: what is too much is left out by its date.
      const from = Math.floor((Date.parse(`${this.#monday}T00:00:00Z`) - dayMs) / 1_000)
      return `api/station/${encodeURIComponent(this.station)}/schedule?days=9&rows=500&now=${from}`
    },
    everyMs
  })

  constructor() {
    super()
    this.weeks = 0
  }

  get #monday(): string {
    return dateAfter(mondayOf(zoneTime(this.zone).date(Date.now())), 7 * this.weeks)
  }

  protected override render() {
    const { value } = this.#openings
    const { date, minutes, zone } = zoneTime(this.zone)
    const days = weekOf(value ?? [], this.#monday)
    const names = [...new Set(value?.map(({ name }) => name))].toSorted()
    const nowMs = Date.now()
    return html`<section class="panel" aria-labelledby="week">
      <header class="panel-head">
        <div>
          <h2 class="heading" id="week">Week</h2>
          <p class="quiet">Times of ${placeName(zone)}</p>
        </div>
        <div class="button-row">
          <button type="button" class="button" aria-label="The week before" @click=${() => this.weeks--}>
            ‹
          </button>
          <button type="button" class="button" ?disabled=${this.weeks === 0} @click=${() => (this.weeks = 0)}>
            This week
          </button>
          <button type="button" class="button" aria-label="The week after" @click=${() => this.weeks++}>
            ›
          </button>
        </div>
      </header>
      ${errorView(this.#openings)}
      ${weekView(days, { date: date(nowMs), minute: minutes(nowMs) }, name => names.indexOf(name) % hues)}
      ${
        value !== null && names.length === 0
          ? html`<p class="quiet">No playlist has a schedule: the rotation plays all week.</p>`
          : nothing
      }
    </section>`
  }
}
