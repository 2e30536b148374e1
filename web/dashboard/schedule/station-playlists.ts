import { html, nothing } from 'lit'
import * as v from 'valibot'

import { readFor } from '../api/poll-resource.ts'
import { chipView } from '../ui/chip-view.ts'
import { LightElement } from '../ui/light-element.ts'
import { errorView } from '../ui/panel.ts'
import { turnsText } from './playlist-words.ts'
import { scheduleItem, scheduleText } from './schedule-words.ts'

const everyMs = 10_000

const playlists = v.array(
  v.object({
    id: v.number(),
    name: v.string(),
    type: v.string(),
    source: v.string(),
    remote_type: v.string(),
    order: v.string(),
    is_enabled: v.boolean(),
    is_jingle: v.boolean(),
    weight: v.number(),
    play_per_songs: v.number(),
    play_per_minutes: v.number(),
    play_per_hour_minute: v.number(),
    schedule_items: v.array(scheduleItem)
  })
)
type Playlist = v.InferOutput<typeof playlists>[number]

/** The playlists of a station and when each has its turn. */
export class StationPlaylists extends LightElement {
  static override properties = { station: { attribute: false } }
  declare station: string

  readonly #playlists = readFor(this, {
    schema: playlists,
    path: () => `api/station/${encodeURIComponent(this.station)}/playlists`,
    everyMs
  })

  protected override render() {
    const { value } = this.#playlists
    return html`<section class="panel" aria-labelledby="playlists">
      <h2 class="heading" id="playlists">Playlists</h2>
      ${errorView(this.#playlists)}
      ${value?.length === 0 ? html`<p class="quiet">There are none yet.</p>` : nothing}
      ${value?.length ? tableView(value) : nothing}
    </section>`
  }
}

const tableView = (rows: readonly Playlist[]) =>
  html`<table class="table">
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Plays</th>
        <th scope="col" class="wide">Order</th>
        <th scope="col">State</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        playlist =>
          html`<tr>
            <td class="row-title">${playlist.name}</td>
            <td>
              <p>${turnsText(playlist)}</p>
              ${playlist.schedule_items.map(item => html`<p class="quiet">${scheduleText(item)}</p>`)}
            </td>
            <td class="wide quiet">${orders[playlist.order] ?? playlist.order}</td>
            <td>${chipView(chipOf(playlist))}</td>
          </tr>`
      )}
    </tbody>
  </table>`

const orders: Readonly<Record<string, string>> = {
  shuffle: 'Shuffled',
  random: 'Random',
  sequential: 'In sequence'
}

function chipOf({ is_enabled: isEnabled, is_jingle: isJingle }: Playlist) {
  if (!isEnabled) return { text: 'Switched off', mood: 'quiet' } as const
  return { text: isJingle ? 'On, jingles' : 'On', mood: 'good' } as const
}
