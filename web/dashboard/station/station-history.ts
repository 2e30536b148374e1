import { html, nothing } from 'lit'
import * as v from 'valibot'

import { readFor } from '../api/poll-resource.ts'
import { isolated, LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { number } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'

const everyMs = 60_000
const rowsAtFirst = 15
const rowsAtMost = 100

const plays = v.object({
  total: v.number(),
  rows: v.array(
    v.object({
      sh_id: v.number(),
      played_at: v.number(),
      playlist: v.string(),
      streamer: v.string(),
      is_request: v.boolean(),
      song: v.object({ title: v.string(), artist: v.string(), text: v.string() }),
      listeners_start: v.number(),
      delta_total: v.number(),
      is_visible: v.boolean()
    })
  )
})
type Play = v.InferOutput<typeof plays>['rows'][number]

/** What was played, newest first, with what listeners thought of it. */
export class StationHistory extends LightElement {
  static override properties = {
    station: { attribute: false },
    zone: { attribute: false },
    occasion: { attribute: false },
    rows: { state: true }
  }
  declare station: string
  declare zone: string
  /** Another one: something was played. */
  declare occasion: string
  declare rows: number

  readonly #plays = readFor(this, {
    schema: plays,
    path: () => `api/station/${encodeURIComponent(this.station)}/history?detailed=1&per_page=${rowsAtMost}`,
    everyMs,
    occasion: () => this.occasion
  })

  constructor() {
    super()
    this.rows = rowsAtFirst
  }

  protected override render() {
    const { value } = this.#plays
    const all = value?.rows ?? []
    return html`<section class="panel" aria-labelledby="history">
      <h2 class="heading" id="history">History</h2>
      ${errorView(this.#plays)}
      <div class="scroll" role="region" aria-label="Plays" tabindex="0">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Song</th>
              <th scope="col" class="wide">From</th>
              <th scope="col" class="count">Listeners</th>
            </tr>
          </thead>
          <tbody>
            ${all.slice(0, this.rows).map(play => this.#rowView(play))}
          </tbody>
        </table>
      </div>
      ${value !== null && all.length === 0 ? html`<p class="quiet">Nothing was played yet.</p>` : nothing}
      ${
        all.length > this.rows
          ? html`<button type="button" class="button" @click=${() => (this.rows = rowsAtMost)}>
              Show earlier plays
            </button>`
          : nothing
      }
    </section>`
  }

  #rowView(play: Play) {
    const { song, listeners_start: listeners, delta_total: delta, is_visible: isVisible } = play
    return html`<tr ?data-hidden=${!isVisible}>
      <td class="row-time">${zoneTime(this.zone).time(play.played_at)}</td>
      <td class="main">
        <p class="row-title">${song.title || song.text}</p>
        <p class="row-artist">${song.artist}</p>
      </td>
      <td class="wide quiet">${fromText(play)}</td>
      <td class="count">${number(listeners)}${deltaView(delta)}</td>
    </tr>`
  }
}

function fromText({ streamer, playlist, is_request: isRequest, is_visible: isVisible }: Play): string {
  const from = streamer || (isRequest ? 'Request' : playlist)
  return isVisible ? from : `${isolated(from)}, hidden`
}

function deltaView(delta: number) {
  if (delta === 0) return nothing
  const text = delta > 0 ? `+${number(delta)}` : `−${number(-delta)}`
  return html` <span class="delta" data-kind=${delta > 0 ? 'more' : 'fewer'}>${text}</span>`
}
