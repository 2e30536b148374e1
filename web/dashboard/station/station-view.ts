import { html, nothing, type PropertyValues } from 'lit'

import type { NowPlaying, Snapshot } from '../../client/interface.ts'
import { followFor } from '../../elements/followed-station.ts'
import { statusLineOf } from '../../elements/status-line.ts'
import { server } from '../api/call-api.ts'
import { keyOfTab } from '../api/key.ts'
import { stationRightsFor } from '../api/permissions.ts'
import { LightElement } from '../ui/light-element.ts'
import { titlePage } from '../ui/page-title.ts'
import { refusedView } from '../ui/panel.ts'
import { type Section, stationAddress } from '../ui/route.ts'
import { placeName, zoneTime } from '../ui/time.ts'

/** A station for those who operate it: what plays, and everything about it that the key may see. */
export class StationView extends LightElement {
  static override properties = {
    station: { attribute: false },
    section: { attribute: false },
    isOld: { attribute: false }
  }
  declare station: string
  declare section: Section
  /** Whether the server does not answer. */
  declare isOld: boolean

  readonly #followed = followFor(this, () => ({ server, station: this.station, apiKey: keyOfTab() }))
  /** Whether the tab of the section was brought in sight, once the tabs are there. */
  #isTabSeen = false
  readonly #rights = stationRightsFor(this, () => this.station)

  protected override render() {
    const { snapshot } = this.#followed
    const { np } = snapshot
    return html`
      <header class="station-head">
        <a class="back" href="#/">All stations</a>
        <h1 class="headline" tabindex="-1">${np?.station.name ?? this.station}</h1>
        ${np === null ? missingView(snapshot) : aboutView(np, this.#followed.serverTimeMs())}
        ${np === null ? nothing : this.#tabsView()}
      </header>
      ${np === null ? nothing : this.#sectionView(np)}
    `
  }

  protected override updated(changed: PropertyValues<this>): void {
    const tab = this.querySelector('.tabs [aria-current=page]')
    if (tab !== null && (changed.has('section') || !this.#isTabSeen)) {
      tab.scrollIntoView({ block: 'nearest', inline: 'nearest' })
      this.#isTabSeen = true
    }
    titlePage(this.#followed.snapshot.np?.station.name ?? this.station)
  }

  #tabsView() {
    return html`<nav class="tabs" aria-label="Station">
      ${this.#tabView('now', 'Now')}
      ${this.#rights.may('queue') ? this.#tabView('schedule', 'Schedule') : nothing}
      ${this.#rights.may('hooks') ? this.#tabView('hooks', 'Web hooks') : nothing}
      ${this.#rights.isKnown && this.#hasStreamers ? this.#tabView('streamers', 'Live shows') : nothing}
    </nav>`
  }

  get #hasStreamers(): boolean {
    return this.#rights.may('streamers') || this.#rights.may('reports')
  }

  #tabView(section: Section, text: string) {
    const isCurrent = section === this.section
    return html`<a href=${stationAddress(this.station, section)} aria-current=${isCurrent ? 'page' : 'false'}
      >${text}</a
    >`
  }

  #sectionView(np: NowPlaying) {
    switch (this.section) {
      case 'now':
        return this.#nowView(np)
      case 'schedule':
        return html`<div class="stack">
          <station-schedule .station=${this.station} .zone=${np.station.timezone}></station-schedule>
          ${
            this.#rights.may('queue')
              ? html`<station-playlists .station=${this.station}></station-playlists>`
              : this.#refusedView()
          }
        </div>`
      case 'hooks':
        if (!this.#rights.may('hooks')) return this.#refusedView()
        return html`<station-hooks
          .station=${this.station}
          .zone=${np.station.timezone}
          .mayTell=${this.#rights.may('telling')}
          .occasion=${occasionOf(np)}
        ></station-hooks>`
      case 'streamers':
        return this.#streamersView(np)
      default:
        return this.section satisfies never
    }
  }

  #nowView(np: NowPlaying) {
    const { timezone, is_public: isPublic } = np.station
    const occasion = occasionOf(np)
    return html`<div class="columns">
      <on-air .station=${this.station} .maySkip=${this.#rights.may('steering')} .isOld=${this.isOld}></on-air>
      ${
        this.#rights.may('reports')
          ? html`<day-chart .station=${this.station} .zone=${timezone}></day-chart>`
          : nothing
      }
      ${
        this.#rights.may('queue')
          ? html`<station-queue
              .station=${this.station}
              .zone=${timezone}
              .isPrivate=${!isPublic}
              .maySteer=${this.#rights.may('steering')}
              .occasion=${occasion}
            ></station-queue>`
          : nothing
      }
      ${
        this.#rights.may('reports')
          ? html`<station-history
              .station=${this.station}
              .zone=${timezone}
              .occasion=${occasion}
            ></station-history>`
          : nothing
      }
    </div>`
  }

  /** Until the rights are known there is nothing to say. */
  #refusedView() {
    return this.#rights.isKnown ? refusedView : nothing
  }

  #streamersView(np: NowPlaying) {
    if (!this.#hasStreamers) return this.#refusedView()
    const { timezone } = np.station
    const occasion = occasionOf(np)
    return html`<div class="stack">
      ${
        this.#rights.may('streamers')
          ? html`<station-streamers
              .station=${this.station}
              .live=${np.live}
              .occasion=${occasion}
            ></station-streamers>`
          : nothing
      }
      ${
        this.#rights.may('reports')
          ? html`<broadcast-list
              .station=${this.station}
              .zone=${timezone}
              .occasion=${occasion}
            ></broadcast-list>`
          : nothing
      }
      ${this.#rights.may('queue') ? html`<poll-list .station=${this.station}></poll-list>` : nothing}
    </div>`
  }
}

/** Another one whenever what is read besides may have changed: not when only listeners came or went. */
function occasionOf({
  now_playing: { sh_id: shId },
  playing_next: next,
  live,
  is_online: isOnline
}: NowPlaying): string {
  return `${shId} ${next?.cued_at} ${next?.song.id} ${live.is_live} ${live.streamer_name} ${isOnline}`
}

function missingView(snapshot: Snapshot) {
  const { kind, text } = statusLineOf(snapshot)
  return html`<p class="eyebrow" data-kind=${kind}>${text}</p>`
}

function aboutView({ station: { timezone, shortcode, is_public: isPublic } }: NowPlaying, nowMs: number) {
  const { time, zone } = zoneTime(timezone)
  return html`<p class="quiet station-about">
    <span>${time(nowMs / 1_000)}, times of ${placeName(zone)}</span>
    ${
      isPublic
        ? html`<a href="public/${encodeURIComponent(shortcode)}">Player page</a>`
        : html`<span>Private</span>`
    }
  </p>`
}
