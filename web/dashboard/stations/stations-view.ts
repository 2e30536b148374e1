import { html, nothing } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import type { NowPlaying } from '../../client/interface.ts'
import { isPublishedData } from '../../client/message.ts'
import { watchPermissions } from '../api/permissions.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { InstallationHealth, QueueStatus } from '../installation/installation-status.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties, setPageTitle } from '../ui/light-element.ts'
import { loadStateView } from '../ui/panel.ts'
import { installationLink, stationLink } from '../ui/route.ts'
import { formatCount, formatNumber } from '../ui/text.ts'
import { stationStatusEvent } from './station-card.ts'

/** The cards shown at first, and added by each click on "Show more". */
const pageSize = 60
/** The search field appears from this number of stations on. */
const minSearchable = 13
/** The table is the default from this number of stations on. */
const minTabular = 25
/** The rows of the table shown at first, and added by each click on "Show more". */
const tablePageSize = 300
/** More stations off the air are counted instead of named. */
const maxNamedOffline = 5

/** The cards of all visible stations, with a headline about their state. */
export class StationsView extends LightElement {
  static override properties = reactiveProperties<StationsView>(
    'isOperator',
    'search',
    'showsOnlyOffline',
    'maxCards',
    'statusChanges',
    'layout',
    'health',
    'queues'
  )
  declare health: InstallationHealth | null
  declare queues: readonly QueueStatus[] | null
  isOperator = false
  search = ''
  showsOnlyOffline = false
  maxCards = pageSize
  statusChanges = 0
  /** What the visitor chose; null: by the number of stations. */
  layout = storedLayout()

  readonly #actions = openActionRunner(this)
  readonly #permissions = watchPermissions(this, () => '')
  /** The list differs from published data in fields that no card shows. */
  readonly #stations = pollResource<'api/nowplaying', readonly NowPlaying[]>(this, {
    path: () => 'api/nowplaying',
    intervalMs: 15_000,
    refreshKey: () => this.statusChanges,
    initialValue: readEmbeddedList()
  })

  constructor() {
    super()
    this.addEventListener(stationStatusEvent, () => this.statusChanges++)
  }

  protected override render() {
    const { value, error } = this.#stations
    if (value === null)
      return html`<h1 class="headline" tabindex="-1">Stations</h1>
        ${loadStateView(this.#stations)}`
    const found = value.filter(
      np => matchesSearch(np, this.search) && !(this.showsOnlyOffline && np.is_online)
    )
    const emptyText = this.showsOnlyOffline ? 'No matching station is off the air.' : 'No station matches.'
    const moreText = `Show more of ${formatCount(found.length, 'station')}`
    const isTable = (this.layout ?? (value.length < minTabular ? 'cards' : 'table')) === 'table'
    const maxShown = isTable ? this.maxCards - pageSize + tablePageSize : this.maxCards
    return html`
      <header class="overview">
        <h1 class="headline" tabindex="-1">${describeStations(value)}</h1>
        <p class="overview-text">${this.#offlineView(value)}${describeAudience(value)}</p>
        ${this.#actionsView(value.length, isTable)}
        ${value.length < minSearchable ? nothing : this.#searchView()}
      </header>
      ${
        this.isOperator
          ? html`<installation-summary .health=${this.health} .queues=${this.queues}></installation-summary>`
          : nothing
      }
      ${error === null ? nothing : loadStateView(this.#stations)}
      ${
        isTable
          ? html`<station-table
              .stations=${found}
              .maxRows=${maxShown}
              .isOperator=${this.isOperator}
            ></station-table>`
          : this.#cardsView(found.slice(0, maxShown), error !== null)
      }
      ${found.length === 0 && value.length > 0 ? html`<p class="quiet">${emptyText}</p>` : nothing}
      ${
        found.length > maxShown
          ? buttonView(moreText, () => (this.maxCards += isTable ? tablePageSize : pageSize))
          : nothing
      }
    `
  }

  #cardsView(stations: readonly NowPlaying[], isListStale: boolean) {
    return html`<ul class="cards" aria-label="Stations">
      ${repeat(
        stations,
        ({ station }) => station.id,
        np =>
          html`<li>
            <station-card
              .listed=${np}
              .listedAtMs=${this.#stations.readAtMs}
              .isListStale=${isListStale}
              .isOperator=${this.isOperator}
            ></station-card>
          </li>`
      )}
    </ul>`
  }

  #actionsView(count: number, isTable: boolean) {
    const canManage = this.isOperator && this.#permissions.allows('manageStations')
    const change = () => {
      this.layout = isTable ? 'cards' : 'table'
      localStorage.setItem(layoutKey, this.layout)
    }
    if (count < 2 && !canManage) return nothing
    return html`<p class="list-actions">
      ${count < 2 ? nothing : buttonView(isTable ? 'Show as cards' : 'Show as a table', change)}
      ${canManage ? this.#newView(count) : nothing}
    </p>`
  }

  #newView(count: number) {
    if (count === 0)
      return html`<a class="button" href=${installationLink('start')}>Set up the first station</a>`
    const open = () =>
      this.#actions.run('new', async () => {
        const { openNewStation } = await import('./new-station.ts')
        await openNewStation(this, this.#stations.refresh)
        return ''
      })
    return buttonView('New station', open)
  }

  protected override updated(): void {
    setPageTitle(this.#stations.value === null ? 'Stations' : describeStations(this.#stations.value))
  }

  #offlineView(stations: readonly NowPlaying[]) {
    const offline = stations.filter(np => !np.is_online)
    if (offline.length === 0 && !this.showsOnlyOffline) return nothing
    if (offline.length > maxNamedOffline || this.showsOnlyOffline)
      return html`<button
          type="button"
          class="link"
          aria-pressed=${this.showsOnlyOffline}
          @click=${() => (this.showsOnlyOffline = !this.showsOnlyOffline)}
        >
          Off the air: ${formatNumber(offline.length)}</button
        >${this.showsOnlyOffline ? ' (only these are shown)' : ''}. `
    const names = offline.map(({ station: { name, shortcode } }, index) => {
      const nameView = html`<bdi>${name}</bdi>`
      const link = this.isOperator ? html`<a href=${stationLink(shortcode)}>${nameView}</a>` : nameView
      return html`${index === 0 ? '' : ', '}${link}`
    })
    return html`Off the air: ${names}. `
  }

  #searchView() {
    return html`<input
      class="field search"
      type="search"
      aria-label="Find a station"
      placeholder="Find a station"
      @input=${({ target }: Event) => {
        if (target instanceof HTMLInputElement) this.search = target.value
      }}
    />`
  }
}

const layoutKey = 'cuewire-stations'

function storedLayout(): 'cards' | 'table' | null {
  const stored = localStorage.getItem(layoutKey)
  return stored === 'cards' || stored === 'table' ? stored : null
}

/** Removes the list of public stations from the page; null if there is none or it was removed before. */
function readEmbeddedList(): NowPlaying[] | null {
  const element = document.querySelector('#shown')
  element?.remove()
  const list: unknown = JSON.parse(element?.textContent ?? 'null')
  return Array.isArray(list) && list.every(np => isPublishedData({ np })) ? list : null
}

function describeStations(stations: readonly NowPlaying[]): string {
  const online = stations.filter(np => np.is_online).length
  if (stations.length === 0) return 'No stations yet'
  if (stations.length === 1) return online === 1 ? 'On the air' : 'Off the air'
  if (online === stations.length) return `All ${stations.length} stations are on the air`
  if (online === 0) return 'All stations are off the air'
  return `${online} of ${stations.length} stations are on the air`
}

function describeAudience(stations: readonly NowPlaying[]): string {
  const listeners = stations.reduce((sum, np) => sum + np.listeners.total, 0)
  const live = stations.filter(np => np.live.is_live).length
  return `${formatCount(listeners, 'listener')}${live === 0 ? '' : `, ${formatCount(live, 'live show')}`}.`
}

function matchesSearch({ station: { name, shortcode } }: NowPlaying, search: string): boolean {
  const text = search.trim().toLowerCase()
  return name.toLowerCase().includes(text) || shortcode.toLowerCase().includes(text)
}
