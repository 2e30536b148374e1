import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import * as v from 'valibot'

import type { NowPlaying, Progress, Snapshot } from '../../client/interface.ts'
import { isData } from '../../client/message.ts'
import { progressAt } from '../../client/progress.ts'
import { followFor } from '../../elements/followed-station.ts'
import { statusLineOf } from '../../elements/status-line.ts'
import { progressView } from '../../elements/time-text.ts'
import { server } from '../api/call-api.ts'
import { keyOfTab } from '../api/key.ts'
import { LightElement } from '../ui/light-element.ts'
import { stationAddress } from '../ui/route.ts'
import { counted } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'
import { followSlotFor } from './follow-slots.ts'

/**
 * Tells that a station went on the air or off, that somebody goes live, or that there is no more news of it.
 */
export const stationTurned = 'cuewire-station-turned'

/**
 * A station in a few lines. While it is in sight it is followed over a WebSocket; where there can be none,
 * what the list says has to do: the other ways would take more connections than a browser has for one server.
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

  readonly #following = followSlotFor(this)
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
    const { kind, text } = statusLineOf(snapshot, zoneTime(station.timezone).time)
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

  /**
   * What the station's own connection says, also that it is in doubt; without one the list, or what is newer.
   */
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

/** The list of all stations that may be seen, `api/nowplaying`. */
export const nowPlayingList = v.array(v.custom<NowPlaying>(np => isData({ np })))

/**
 * Where the song of a listed station is, by the time that has passed since the list was read; null where its
 * length is not known, since nothing is said to have elapsed of it.
 */
function listedProgress(np: NowPlaying, listedAtMs: number): Progress | null {
  const { played_at: playedAt, elapsed, duration } = np.now_playing
  if (duration === 0) return null
  return progressAt(np, (playedAt + elapsed) * 1_000 + Date.now() - listedAtMs)
}

/**
 * The public stations that the server wrote into the page; null where it did not, or they were taken before.
 */
export function takeShown(): NowPlaying[] | null {
  const element = document.querySelector('#shown')
  element?.remove()
  const { success, output } = v.safeParse(nowPlayingList, JSON.parse(element?.textContent ?? 'null'))
  return success ? output : null
}

/**
 * What stands for the song that plays. Before the first song there may be a jingle, which listeners are not
 * shown.
 */
export function titleOf({ now_playing: { sh_id: shId, song }, is_online: isOnline }: NowPlaying): string {
  if (shId === 0 && isOnline) return 'A jingle'
  return song.title || song.text
}
