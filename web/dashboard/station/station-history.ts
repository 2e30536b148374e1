import { html, nothing } from 'lit'

import type { DetailedPlay } from '../api/responses.ts'
import { buttonView, tableView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatNumber } from '../ui/text.ts'
import { describePlaySource, isDetailedPlay } from './play-source.ts'

const initialRows = 15
const maxRows = 100

/** The history of a station, newest first, with the change of listeners during each play. */
export class StationHistory extends StationElement {
  static override properties = reactiveProperties<StationHistory>('rows', 'hasQueue')
  /** Whether the songs come from the queue. */
  declare hasQueue: boolean
  rows = initialRows

  readonly #plays = this.poll(`history?per_page=${maxRows}&detailed=1`, 60_000)

  protected override render() {
    const { value } = this.#plays
    const all = value?.rows.filter(isDetailedPlay) ?? []
    const rows = all.slice(0, this.rows).map(play => this.#rowView(play))
    return panelView(
      {
        id: 'history',
        title: 'History',
        resource: this.#plays,
        emptyText: value?.rows.length === 0 ? 'There are no plays yet.' : ''
      },
      html`<div class="scroll" role="region" aria-label="Plays" tabindex="0">
          ${tableView(['Time', 'Song', ['Source', 'wide'], ['Listeners', 'count']], rows)}
        </div>
        ${all.length > this.rows ? buttonView('Show earlier plays', () => (this.rows = maxRows)) : nothing}`
    )
  }

  #rowView(play: DetailedPlay) {
    const { song, listeners_start: listeners, delta_total: delta, is_visible: isVisible } = play
    return html`<tr ?data-hidden=${!isVisible}>
      <td class="row-time">${this.clock.formatTime(play.played_at)}</td>
      <td class="main">
        <p class="row-title">${song.title || song.text}</p>
        <p class="row-artist">${song.artist}</p>
      </td>
      <td class="wide quiet">${describePlaySource(play, this.hasQueue)}</td>
      <td class="count">${formatNumber(listeners)}${deltaView(delta)}</td>
    </tr>`
  }
}

function deltaView(delta: number) {
  if (delta === 0) return nothing
  const text = delta > 0 ? `+${formatNumber(delta)}` : `−${formatNumber(-delta)}`
  return html` <span class="delta" data-kind=${delta > 0 ? 'more' : 'fewer'}>${text}</span>`
}
