import { html, nothing } from 'lit'
import * as v from 'valibot'

import type { NowPlaying } from '../../client/interface.ts'
import { readFor } from '../api/poll-resource.ts'
import { scheduleItem, scheduleText } from '../schedule/schedule-words.ts'
import { chipView } from '../ui/chip-view.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'

const everyMs = 60_000

const streamers = v.array(
  v.object({
    id: v.number(),
    streamer_username: v.string(),
    display_name: v.string(),
    is_active: v.boolean(),
    enforce_schedule: v.boolean(),
    schedule_items: v.array(scheduleItem)
  })
)
type Streamer = v.InferOutput<typeof streamers>[number]

/** Who may go live on a station, when they are expected, and who is live. */
export class StationStreamers extends LightElement {
  static override properties = {
    station: { attribute: false },
    live: { attribute: false },
    occasion: { attribute: false }
  }
  declare station: string
  declare live: NowPlaying['live'] | null
  declare occasion: string

  readonly #streamers = readFor(this, {
    schema: streamers,
    path: () => `api/station/${encodeURIComponent(this.station)}/streamers`,
    everyMs,
    occasion: () => this.occasion
  })

  protected override render() {
    const { value } = this.#streamers
    return html`<section class="panel" aria-labelledby="streamers">
      <h2 class="heading" id="streamers">Streamers</h2>
      ${errorView(this.#streamers)}
      ${value?.length === 0 ? html`<p class="quiet">Nobody may go live on this station.</p>` : nothing}
      ${value?.length ? this.#tableView(value) : nothing}
    </section>`
  }

  #tableView(rows: readonly Streamer[]) {
    return html`<table class="table">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Expected</th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          streamer =>
            html`<tr>
              <td>
                <p class="row-title">${streamer.display_name || streamer.streamer_username}</p>
                <p class="row-artist">${streamer.streamer_username}</p>
              </td>
              <td>${expectedText(streamer)}</td>
              <td>${chipView(this.#chipOf(streamer))}</td>
            </tr>`
        )}
      </tbody>
    </table>`
  }

  #chipOf({ display_name: name, streamer_username: username, is_active: isActive }: Streamer) {
    const isLive = this.live?.is_live === true && this.live.streamer_name === (name || username)
    if (isLive) return { text: 'Live', mood: 'good' } as const
    return isActive
      ? ({ text: 'May go live', mood: 'quiet' } as const)
      : ({ text: 'Barred', mood: 'doubt' } as const)
  }
}

function expectedText({ schedule_items: items, enforce_schedule: isEnforced }: Streamer): string {
  const times = items.map(scheduleText).join('; ')
  if (times === '') return isEnforced ? 'Never: no time is planned' : 'At any time'
  return isEnforced ? `${times}, and only then` : times
}
