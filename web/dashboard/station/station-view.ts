import { html, nothing, type PropertyValues } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

import type { NowPlaying } from '../../client/interface.ts'
import { followStationFor } from '../../elements/followed-station.ts'
import { describeStationStatus } from '../../elements/status-line.ts'
import { currentApiKey, serverBaseUrl } from '../api/call-api.ts'
import { watchPermissions } from '../api/permissions.ts'
import { LightElement, reactiveProperties, setPageTitle } from '../ui/light-element.ts'
import { forbiddenView } from '../ui/panel.ts'
import { type RoutePlace, type StationSection, stationLink } from '../ui/route.ts'
import { formatZoneName, getZoneClock } from '../ui/time.ts'
import { hasUnsavedChanges } from '../ui/unsaved-changes.ts'
import { stationViews, type DashboardView } from '../views.ts'

/** The page of a station for operators. Each part is shown if the key has the permission to view it. */
export class StationView extends LightElement {
  static override properties = reactiveProperties<StationView>('station', 'section', 'place', 'isOutdated')
  declare station: string
  declare section: StationSection
  declare place: RoutePlace
  /** Whether the server does not respond. */
  declare isOutdated: boolean

  readonly #followed = followStationFor(this, () => ({
    server: serverBaseUrl,
    station: this.station,
    apiKey: currentApiKey()
  }))
  readonly #permissions = watchPermissions(this, () => this.station)
  /** The document of the page. It stays while the page has unsaved changes and the session has ended. */
  #np: NowPlaying | null = null
  /** Whether the current tab was scrolled into view after the tabs were rendered. */
  #isTabVisible = false

  protected override render() {
    const { snapshot } = this.#followed
    if (snapshot.np !== null || !hasUnsavedChanges()) this.#np = snapshot.np
    const np = this.#np
    const { kind, text } = describeStationStatus(snapshot)
    return html`
      <header class="station-head">
        <a class="back" href="#/">All stations</a>
        <h1 class="headline" tabindex="-1">${np?.station.name ?? this.station}</h1>
        ${
          snapshot.np === null || np === null
            ? html`<p class="eyebrow" data-kind=${kind}>${text}</p>`
            : aboutView(np, this.#followed.serverTimeMs())
        }
        ${np === null ? nothing : this.#tabsView()}
      </header>
      ${np === null ? nothing : this.#sectionView(np)}
    `
  }

  protected override updated(changed: PropertyValues<this>): void {
    const tab = this.querySelector('.tabs [aria-current=page]')
    if (tab !== null && (changed.has('section') || !this.#isTabVisible)) {
      tab.scrollIntoView({ block: 'nearest', inline: 'nearest' })
      this.#isTabVisible = true
    }
    setPageTitle(this.#np?.station.name ?? this.station)
  }

  #tabsView() {
    return html`<nav class="tabs" aria-label="Station">
      ${repeat(
        stationViews.filter(view => this.#isAllowed(view)),
        ({ section }) => section,
        view => this.#tabView(view)
      )}
    </nav>`
  }

  #tabView({ section, title }: DashboardView<StationSection>) {
    const isCurrent = section === this.section
    return html`<a href=${stationLink(this.station, section)} aria-current=${isCurrent ? 'page' : 'false'}
      >${title}</a
    >`
  }

  #isAllowed({ features }: DashboardView): boolean {
    return features.length === 0 || features.some(this.#permissions.allows)
  }

  #sectionView(np: NowPlaying) {
    const view = stationViews.find(({ section }) => section === this.section)
    if (view === undefined) return nothing
    if (!this.#isAllowed(view)) return this.#permissions.isKnown ? forbiddenView : nothing
    const { station, isOutdated } = this
    const { item, folder } = this.place
    const zone = np.station.timezone
    const page = { station, np, isOutdated, zone, item, folder, refreshKey: refreshKeyOf(np) }
    return html`<view-loader .view=${view} .page=${page}></view-loader>`
  }
}

/** Changes with the play, the next song and the live state, but not with listener counts. */
function refreshKeyOf({
  now_playing: playing,
  playing_next: next,
  live,
  is_online: isOnline
}: NowPlaying): string {
  return [playing.sh_id, next?.cued_at, next?.song.id, live.is_live, live.streamer_name, isOnline].join(' ')
}

function aboutView({ station: { timezone, shortcode, is_public: isPublic } }: NowPlaying, nowMs: number) {
  const { formatTime, zone } = getZoneClock(timezone)
  return html`<p class="quiet station-about">
    <span>${formatTime(nowMs / 1_000)}, time zone ${formatZoneName(zone)}</span>
    ${
      isPublic
        ? html`<a href="public/${encodeURIComponent(shortcode)}">Player page</a>`
        : html`<span>Private</span>`
    }
  </p>`
}
