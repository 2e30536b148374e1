import { html, nothing } from 'lit'
import * as v from 'valibot'

import { type Chip, chipView, tableView } from '../ui/controls.ts'
import { StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { describeFrequency, formatSchedule, frequencySchema, scheduleEntrySchema } from './schedule-text.ts'

const playlistsSchema = v.array(
  v.object({
    ...frequencySchema.entries,
    name: v.string(),
    order: v.string(),
    is_enabled: v.boolean(),
    is_jingle: v.boolean(),
    schedule_items: v.array(scheduleEntrySchema)
  })
)
type Playlist = v.InferOutput<typeof playlistsSchema>[number]

/** The playlists of a station, and when each of them plays. */
export class StationPlaylists extends StationElement {
  readonly #playlists = this.poll('playlists', playlistsSchema, 10_000)

  protected override render() {
    const { value } = this.#playlists
    const emptyText = value?.length === 0 ? 'There are no playlists yet.' : ''
    return panelView(
      { id: 'playlists', title: 'Playlists', resource: this.#playlists, emptyText },
      value?.length ? tableView(['Name', 'Plays', ['Order', 'wide'], 'State'], value.map(rowView)) : nothing
    )
  }
}

const rowView = (playlist: Playlist) =>
  html`<tr>
    <td class="row-title">${playlist.name}</td>
    <td>
      <p>${describeFrequency(playlist)}</p>
      ${playlist.schedule_items.map(item => html`<p class="quiet">${formatSchedule(item)}</p>`)}
    </td>
    <td class="wide quiet">${orders[playlist.order] ?? playlist.order}</td>
    <td>${chipView(stateChip(playlist))}</td>
  </tr>`

const orders: Readonly<Record<string, string>> = {
  shuffle: 'Shuffled',
  random: 'Random',
  sequential: 'Sequential'
}

function stateChip({ is_enabled: isEnabled, is_jingle: isJingle }: Playlist): Chip {
  if (!isEnabled) return { text: 'Disabled', tone: 'neutral' }
  return { text: isJingle ? 'Enabled, jingles' : 'Enabled', tone: 'good' }
}
