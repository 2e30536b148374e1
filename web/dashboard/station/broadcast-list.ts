import { html, nothing } from 'lit'
import * as v from 'valibot'

import { readFor } from '../api/poll-resource.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { durationText } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'

const everyMs = 60_000
const rows = 10

const broadcasts = v.object({
  rows: v.array(
    v.object({
      id: v.number(),
      username: v.string(),
      streamer_name: v.string(),
      timestamp_start: v.number(),
      timestamp_end: v.nullable(v.number())
    })
  )
})

/** When somebody was live on a station, newest first. */
export class BroadcastList extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    occasion: { attribute: false }
  }
  declare station: string
  declare zone: string
  declare occasion: string

  readonly #broadcasts = readFor(this, {
    schema: broadcasts,
    path: () => `api/station/${encodeURIComponent(this.station)}/streamers/broadcasts?per_page=${rows}`,
    everyMs,
    occasion: () => this.occasion
  })

  protected override render() {
    const { value } = this.#broadcasts
    const { time } = zoneTime(this.zone)
    return html`<section class="panel" aria-labelledby="broadcasts">
      <h2 class="heading" id="broadcasts">Live shows</h2>
      ${errorView(this.#broadcasts)}
      ${value?.rows.length === 0 ? html`<p class="quiet">Nobody was live yet.</p>` : nothing}
      <ol>
        ${value?.rows.map(
          ({ username, streamer_name: name, timestamp_start: start, timestamp_end: end }) =>
            html`<li class="line">
              <span class="row-time">${time(start)}</span>
              <span class="row-title">${name || username}</span>
              <span class="quiet">${end === null ? 'goes on' : durationText(end - start)}</span>
            </li>`
        )}
      </ol>
    </section>`
  }
}
