import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import type { NowPlaying } from '../../client/interface.ts'
import { currentSongTitle } from '../station/play-source.ts'
import { chipView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { stationLink } from '../ui/route.ts'
import { formatNumber } from '../ui/text.ts'

const columns = {
  name: 'Station',
  state: 'State',
  song: 'Song',
  listeners: 'Listeners'
} as const
export type StationColumn = keyof typeof columns

/** The text or number by which a station is sorted; stations off the air come first in `state`. */
function sortKey(np: NowPlaying, column: StationColumn): string | number {
  if (column === 'name') return np.station.name
  if (column === 'song') return np.is_online ? currentSongTitle(np) : ''
  if (column === 'state') return np.is_online ? (np.live.is_live ? 1 : 2) : 0
  return np.listeners.total
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** Sorts stations by a column; equal ones by name. */
function sortStations(
  stations: readonly NowPlaying[],
  column: StationColumn,
  isDescending: boolean
): NowPlaying[] {
  const sign = isDescending ? -1 : 1
  return stations.toSorted((one, other) => {
    const [a, b] = [sortKey(one, column), sortKey(other, column)]
    const order =
      typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b))
    return order === 0 ? collator.compare(one.station.name, other.station.name) : sign * order
  })
}

/** The stations in a compact table that is sorted by any of its columns. It shows the list as it was read. */
export class StationTable extends LightElement {
  static override properties = reactiveProperties<StationTable>(
    'stations',
    'maxRows',
    'isOperator',
    'column',
    'isDescending'
  )
  declare stations: readonly NowPlaying[]
  /** The number of rows that are shown, of all stations in their order. */
  declare maxRows: number
  declare isOperator: boolean
  column: StationColumn = 'name'
  isDescending = false

  protected override render() {
    return html`<div class="scroll" role="region" aria-label="Stations" tabindex="0">
      <table class="table station-table">
        <thead>
          <tr>
            ${this.#headView('name')} ${this.#headView('state')} ${this.#headView('song', 'wide')}
            ${this.#headView('listeners', 'count')}
          </tr>
        </thead>
        <tbody>
          ${repeat(
            sortStations(this.stations, this.column, this.isDescending).slice(0, this.maxRows),
            ({ station }) => station.id,
            np => this.#rowView(np)
          )}
        </tbody>
      </table>
    </div>`
  }

  #headView(column: StationColumn, style = '') {
    const isSorted = column === this.column
    const order = isSorted ? (this.isDescending ? 'descending' : 'ascending') : nothing
    const sort = () => {
      this.isDescending = isSorted ? !this.isDescending : column === 'listeners'
      this.column = column
    }
    return html`<th scope="col" class=${style} aria-sort=${order}>
      <button type="button" class="link" @click=${sort}>${columns[column]}</button>
    </th>`
  }

  #rowView(np: NowPlaying) {
    const { name, shortcode, is_public: isPublic } = np.station
    const address = this.isOperator
      ? stationLink(shortcode)
      : isPublic
        ? `public/${encodeURIComponent(shortcode)}`
        : null
    return html`<tr>
      <th scope="row" class="row-title">${address === null ? name : html`<a href=${address}>${name}</a>`}</th>
      <td>${chipView(stateChip(np))}</td>
      <td class="wide">${np.is_online ? currentSongTitle(np) : ''}</td>
      <td class="count">${formatNumber(np.listeners.total)}</td>
    </tr>`
  }
}

function stateChip({ is_online: isOnline, live }: NowPlaying) {
  if (!isOnline) return { text: 'Off the air', tone: 'bad' } as const
  return live.is_live
    ? ({ text: 'Live show', tone: 'good' } as const)
    : ({ text: 'On the air', tone: 'good' } as const)
}
