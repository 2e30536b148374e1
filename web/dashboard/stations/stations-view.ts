import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import type { NowPlaying } from '../../client/interface.ts'
import { readFor } from '../api/poll-resource.ts'
import { LightElement } from '../ui/light-element.ts'
import { titlePage } from '../ui/page-title.ts'
import { errorView } from '../ui/panel.ts'
import { stationAddress } from '../ui/route.ts'
import { counted, number } from '../ui/text.ts'
import { nowPlayingList, stationTurned, takeShown } from './station-card.ts'

const everyMs = 15_000
/** More are shown when they are asked for. */
const shownAtFirst = 60
/** Fewer are found by looking. */
const searchedFrom = 13

/** All stations that may be seen, and in one sentence how they are. */
export class StationsView extends LightElement {
  static override properties = {
    isOperated: { attribute: false },
    sought: { state: true },
    isOnlySilent: { state: true },
    shown: { state: true },
    turns: { state: true }
  }
  declare isOperated: boolean
  declare sought: string
  declare isOnlySilent: boolean
  declare shown: number
  declare turns: number

  readonly #stations = readFor(this, {
    schema: nowPlayingList,
    path: () => 'api/nowplaying',
    everyMs,
    occasion: () => this.turns,
    known: takeShown()
  })

  constructor() {
    super()
    this.isOperated = false
    this.sought = ''
    this.isOnlySilent = false
    this.shown = shownAtFirst
    this.turns = 0
    this.addEventListener(stationTurned, () => this.turns++)
  }

  protected override render() {
    const { value, trouble } = this.#stations
    if (value === null)
      return html`<h1 class="headline" tabindex="-1">Stations</h1>
        ${errorView(this.#stations)}`
    const found = value.filter(np => isFound(np, this.sought) && !(this.isOnlySilent && np.is_online))
    return html`
      <header class="overview">
        <h1 class="headline" tabindex="-1">${headline(value)}</h1>
        <p class="overview-text">${this.#silentView(value)}${audience(value)}</p>
        ${value.length < searchedFrom ? nothing : this.#searchView()}
      </header>
      ${trouble === null ? nothing : errorView(this.#stations)}
      <ul class="cards" aria-label="Stations">
        ${repeat(
          found.slice(0, this.shown),
          ({ station }) => station.id,
          np =>
            html`<li>
              <station-card
                .listed=${np}
                .listedAtMs=${this.#stations.readAtMs}
                .isDoubted=${trouble !== null}
                .isOperated=${this.isOperated}
              ></station-card>
            </li>`
        )}
      </ul>
      ${found.length === 0 && value.length > 0 ? html`<p class="quiet">${this.isOnlySilent ? 'No such station is silent.' : 'No station is called so.'}</p>` : nothing}
      ${
        found.length > this.shown
          ? html`<button type="button" class="button" @click=${() => (this.shown += shownAtFirst)}>
              Show more of ${counted(found.length, 'station')}
            </button>`
          : nothing
      }
    `
  }

  protected override updated(): void {
    titlePage(this.#stations.value === null ? 'Stations' : headline(this.#stations.value))
  }

  #silentView(stations: readonly NowPlaying[]) {
    const silent = stations.filter(np => !np.is_online)
    if (silent.length === 0 && !this.isOnlySilent) return nothing
    if (silent.length > 5 || this.isOnlySilent)
      return html`<button
          type="button"
          class="link"
          aria-pressed=${this.isOnlySilent}
          @click=${() => (this.isOnlySilent = !this.isOnlySilent)}
        >
          Silent: ${number(silent.length)}</button
        >${this.isOnlySilent ? ', only those are shown' : ''}. `
    const names = silent.map(({ station: { name, shortcode } }) =>
      this.isOperated
        ? html`<a href=${stationAddress(shortcode)}><bdi>${name}</bdi></a>`
        : html`<bdi>${name}</bdi>`
    )
    return html`Silent: ${names.map((name, index) => html`${index === 0 ? '' : ', '}${name}`)}. `
  }

  #searchView() {
    return html`<input
      class="field search"
      type="search"
      aria-label="Find a station"
      placeholder="Find a station"
      @input=${({ target }: Event) => {
        if (target instanceof HTMLInputElement) this.sought = target.value
      }}
    />`
  }
}

function headline(stations: readonly NowPlaying[]): string {
  const silent = stations.filter(np => !np.is_online).length
  if (stations.length === 0) return 'No stations yet'
  if (stations.length === 1) return silent === 0 ? 'On the air' : 'Off the air'
  if (silent === 0) return `All ${stations.length} stations are on the air`
  if (silent === stations.length) return 'All stations are off the air'
  return `${stations.length - silent} of ${stations.length} stations are on the air`
}

function audience(stations: readonly NowPlaying[]): string {
  const listeners = stations.reduce((sum, np) => sum + np.listeners.total, 0)
  const live = stations.filter(np => np.live.is_live).length
  return `${counted(listeners, 'listener')}${live === 0 ? '' : `, ${counted(live, 'live show')}`}.`
}

function isFound({ station: { name, shortcode } }: NowPlaying, sought: string): boolean {
  const words = sought.trim().toLowerCase()
  return name.toLowerCase().includes(words) || shortcode.toLowerCase().includes(words)
}
