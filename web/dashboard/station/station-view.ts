import { html, nothing, type PropertyValues } from 'lit'

import type { NowPlaying } from '../../client/interface.ts'
import { followFor } from '../../elements/followed-station.ts'
import { describeStatus } from '../../elements/status-line.ts'
import { currentKey, serverBaseUrl } from '../api/call-api.ts'
import { watchPermissions } from '../api/permissions.ts'
import { LightElement, reactiveProperties, setPageTitle } from '../ui/light-element.ts'
import { forbiddenView } from '../ui/panel.ts'
import { type StationSection, stationLink } from '../ui/route.ts'
import { formatZoneName, getZoneClock } from '../ui/time.ts'

/** The page of a station for operators. Each part is shown if the key has the permission to view it. */
export class StationView extends LightElement {
  static override properties = reactiveProperties('station', 'section', 'isOutdated')
  declare station: string
  declare section: StationSection
  /** Whether the server does not respond. */
  declare isOutdated: boolean

  readonly #followed = followFor(this, () => ({
    server: serverBaseUrl,
    station: this.station,
    apiKey: currentKey()
  }))
  readonly #permissions = watchPermissions(this, () => this.station)
  /** Whether the current tab was scrolled into view after the tabs were rendered. */
  #isTabVisible = false

  protected override render() {
    const { snapshot } = this.#followed
    const { np } = snapshot
    const { kind, text } = describeStatus(snapshot)
    return html`
      <header class="station-head">
        <a class="back" href="#/">All stations</a>
        <h1 class="headline" tabindex="-1">${np?.station.name ?? this.station}</h1>
        ${
          np === null
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
    setPageTitle(this.#followed.snapshot.np?.station.name ?? this.station)
  }

  #tabsView() {
    const { allows, isKnown } = this.#permissions
    return html`<nav class="tabs" aria-label="Station">
      ${this.#tabView('now', 'Now')} ${allows('viewQueue') ? this.#tabView('schedule', 'Schedule') : nothing}
      ${allows('viewHooks') ? this.#tabView('hooks', 'Web hooks') : nothing}
      ${isKnown && this.#canViewLiveShows ? this.#tabView('streamers', 'Live shows') : nothing}
    </nav>`
  }

  get #canViewLiveShows(): boolean {
    return this.#permissions.allows('viewStreamers') || this.#permissions.allows('viewReports')
  }

  #tabView(section: StationSection, text: string) {
    const isCurrent = section === this.section
    return html`<a href=${stationLink(this.station, section)} aria-current=${isCurrent ? 'page' : 'false'}
      >${text}</a
    >`
  }

  #sectionView(np: NowPlaying) {
    const { allows, isKnown } = this.#permissions
    const forbidden = isKnown ? forbiddenView : nothing
    const { station } = this
    const { timezone: zone, is_public: isPublic } = np.station
    const refreshKey = refreshKeyOf(np)
    switch (this.section) {
      case 'now': {
        const canManage = allows('controlPlayback')
        const chart = html`<day-chart .station=${station} .zone=${zone}></day-chart>`
        const queue = html`<station-queue
          .station=${station}
          .zone=${zone}
          .isPrivate=${!isPublic}
          .canManage=${canManage}
          .refreshKey=${refreshKey}
        ></station-queue>`
        const history = html`<station-history
          .station=${station}
          .zone=${zone}
          .refreshKey=${refreshKey}
        ></station-history>`
        return html`<div class="columns">
          <on-air .station=${station} .canSkip=${canManage} .isOutdated=${this.isOutdated}></on-air>
          ${allows('viewReports') ? chart : nothing} ${allows('viewQueue') ? queue : nothing}
          ${allows('viewReports') ? history : nothing}
        </div>`
      }
      case 'schedule': {
        const playlists = html`<station-playlists .station=${station}></station-playlists>`
        return html`<div class="stack">
          <station-schedule .station=${station} .zone=${zone}></station-schedule>
          ${allows('viewQueue') ? playlists : forbidden}
        </div>`
      }
      case 'hooks':
        if (!allows('viewHooks')) return forbidden
        return html`<station-hooks
          .station=${station}
          .zone=${zone}
          .canManage=${allows('manageHooks')}
          .refreshKey=${refreshKey}
        ></station-hooks>`
      case 'streamers': {
        if (!this.#canViewLiveShows) return forbidden
        const streamers = html`<station-streamers
          .station=${station}
          .live=${np.live}
          .refreshKey=${refreshKey}
        ></station-streamers>`
        const broadcasts = html`<broadcast-list
          .station=${station}
          .zone=${zone}
          .refreshKey=${refreshKey}
        ></broadcast-list>`
        return html`<div class="stack">
          ${allows('viewStreamers') ? streamers : nothing} ${allows('viewReports') ? broadcasts : nothing}
          ${allows('viewQueue') ? html`<poll-list .station=${station}></poll-list>` : nothing}
        </div>`
      }
      default:
        return this.section satisfies never
    }
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
