import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying, Snapshot } from '../client/interface.ts'
import { followFor } from '../elements/followed-station.ts'
import { progressView } from '../elements/progress-view.ts'
import { sayingOf } from '../elements/saying.ts'
import { server } from './ask.ts'
import { counted } from './counted.ts'
import { keyOfTab } from './key.ts'
import { LightElement } from './light-element.ts'
import { listedProgress } from './listed.ts'
import { stationAddress } from './route.ts'
import { titleOf } from './song-title.ts'
import { turnFor } from './turn.ts'
import { zoneTime } from './zone-time.ts'

/** Tells that a station went on the air or off, that somebody goes live, or that there is no more news of it. */
export const stationTurned = 'cuewire-station-turned'

/**
 * A station in a few lines. While it is in sight it is followed over a WebSocket; where there can be none, what the list
 * says has to do: the other ways would take more connections than a browser has for one server.
 */
export class StationCard extends LightElement {
  static override properties = {
    listed: { attribute: false },
    listedAtMs: { attribute: false },
    isDoubted: { attribute: false },
    isOperated: { attribute: false }
  }
  declare listed: NowPlaying
  declare listedAtMs: number
  /** Whether the list could not be read anew. */
  declare isDoubted: boolean
  /** Whether somebody looks who may do more than listen. */
  declare isOperated: boolean

  readonly #following = turnFor(this)
  #turn = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #station = followFor(
    this,
    () =>
      this.#following.isOn
        ? {
            server,
            station: this.listed.station.id,
            apiKey: this.listed.station.is_public ? '' : keyOfTab(),
            transports: ['websocket']
          }
        : null,
    snapshot => this.#watch(snapshot)
  )

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.#timer)
  }

  /** Where it cannot be followed, nobody else draws its seconds. */
  protected override updated(): void {
    clearTimeout(this.#timer)
    const isAlone = this.#following.isOn && this.#station.progress === null && !this.isDoubted
    if (isAlone && !document.hidden) this.#timer = setTimeout(() => this.requestUpdate(), 1_000)
  }

  protected override render() {
    const snapshot = this.#snapshot()
    const np = snapshot.np ?? this.listed
    const { station, now_playing: playing, listeners } = np
    const { kind, text } = sayingOf(snapshot, zoneTime(station.timezone).time)
    const { song } = playing
    return html`<article class="card" data-kind=${kind}>
      <song-cover .address=${song.art} .isPrivate=${!station.is_public}></song-cover>
      <div class="card-text">
        <h2 class="card-station">${this.#linkView(station)}</h2>
        <p class="state-line">
          <span class="eyebrow" data-kind=${kind}>${kind === 'plain' ? 'On the air' : text}</span>
          <span class="card-listeners">${counted(listeners.total, 'listener')}</span>
        </p>
        ${keyed(
          playing.sh_id,
          html`<p class="card-title" title=${song.title}>${titleOf(np)}</p>
            <p class="card-artist">${song.artist}</p>`
        )}
        ${np.is_online ? progressView(this.#progress(np)) : nothing}
        ${this.isOperated ? html`<spark-line .station=${station.id} .zone=${station.timezone}></spark-line>` : nothing}
      </div>
    </article>`
  }

  #linkView({ name, shortcode, is_public: isPublic }: NowPlaying['station']) {
    if (this.isOperated) return html`<a href=${stationAddress(shortcode)}>${name}</a>`
    return isPublic ? html`<a href=${`public/${encodeURIComponent(shortcode)}`}>${name}</a>` : name
  }

  /** What the station's own connection says, also that it is in doubt; without one the list, or what is newer. */
  #snapshot(): Snapshot {
    const { snapshot } = this.#station
    if (snapshot.np !== null && (snapshot.via !== null || (snapshot.trueAtMs ?? 0) > this.listedAtMs))
      return snapshot
    const status = this.isDoubted ? 'stale' : 'live'
    return { status, reason: null, via: null, np: this.listed, trueAtMs: this.listedAtMs }
  }

  #progress(np: NowPlaying) {
    const isListed = this.#station.snapshot.via === null && !this.isDoubted
    return this.#station.progress ?? (isListed ? listedProgress(np, this.listedAtMs) : null)
  }

  #watch({ np, status }: Snapshot): void {
    if (np === null) return
    const turn = `${status === 'live'} ${np.is_online} ${np.live.is_live}`
    if (this.#turn !== '' && this.#turn !== turn)
      this.dispatchEvent(new Event(stationTurned, { bubbles: true }))
    this.#turn = turn
  }
}
