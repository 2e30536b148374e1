import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import { progressAt } from '../../client/clock.ts'
import type { NowPlaying, Progress, Snapshot } from '../../client/interface.ts'
import { followStationFor } from '../../elements/followed-station.ts'
import { describeStationStatus } from '../../elements/status-line.ts'
import { progressBarView } from '../../elements/time-text.ts'
import { currentApiKey, serverBaseUrl } from '../api/call-api.ts'
import { currentSongTitle } from '../station/play-source.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { stationLink } from '../ui/route.ts'
import { formatCount } from '../ui/text.ts'
import { getZoneClock } from '../ui/time.ts'
import { openFollowPermit } from './visibility.ts'

/** Dispatched when a station goes on or off the air, a DJ connects or disconnects, or it becomes stale. */
export const stationStatusEvent = 'cuewire-station-status-changed'

/**
 * A station in the list. While it is visible it is followed over WebSocket. Without WebSocket it shows the
 * list: other transports would exceed the connections that browsers allow per server.
 */
export class StationCard extends LightElement {
  static override properties = reactiveProperties<StationCard>(
    'listed',
    'listedAtMs',
    'isListStale',
    'isOperator'
  )
  declare listed: NowPlaying
  declare listedAtMs: number
  /** Whether the last read of the list failed. */
  declare isListStale: boolean
  declare isOperator: boolean

  readonly #slot = openFollowPermit(this)
  #status = ''
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #followed = followStationFor(
    this,
    () =>
      this.#slot.hasSlot
        ? {
            server: serverBaseUrl,
            station: this.listed.station.id,
            apiKey: this.listed.station.is_public ? '' : currentApiKey(),
            transports: ['websocket']
          }
        : null,
    snapshot => this.#dispatchStatusChange(snapshot)
  )

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    clearTimeout(this.#timer)
  }

  /** Updates the progress of a listed song every second; for a followed one, the follower does. */
  protected override updated(): void {
    clearTimeout(this.#timer)
    const isUnfollowed = this.#slot.hasSlot && this.#followed.progress === null && !this.isListStale
    if (isUnfollowed && !document.hidden) this.#timer = setTimeout(() => this.requestUpdate(), 1_000)
  }

  protected override render() {
    const snapshot = this.#snapshot()
    const np = snapshot.np ?? this.listed
    const { station, now_playing: playing, listeners } = np
    const { kind, text } = describeStationStatus(snapshot, getZoneClock(station.timezone).formatTime)
    const { song } = playing
    return html`<article class="card" data-kind=${kind}>
      <song-cover .address=${song.art} .isPrivate=${!station.is_public}></song-cover>
      <div class="card-text">
        <h2 class="card-station">${this.#linkView(station)}</h2>
        <p class="state-line">
          <span class="eyebrow" data-kind=${kind}>${kind === 'plain' ? 'On the air' : text}</span>
          <span class="card-listeners">${formatCount(listeners.total, 'listener')}</span>
        </p>
        ${keyed(
          playing.sh_id,
          html`<p class="card-title" title=${song.title}>${currentSongTitle(np)}</p>
            <p class="card-artist">${song.artist}</p>`
        )}
        ${np.is_online ? progressBarView(this.#progress(np)) : nothing}
        ${this.isOperator ? html`<spark-line .station=${station.id} .zone=${station.timezone}></spark-line>` : nothing}
      </div>
    </article>`
  }

  #linkView({ name, shortcode, is_public: isPublic }: NowPlaying['station']) {
    if (this.isOperator) return html`<a href=${stationLink(shortcode)}>${name}</a>`
    return isPublic ? html`<a href=${`public/${encodeURIComponent(shortcode)}`}>${name}</a>` : name
  }

  /** The followed state if there is a connection or it is newer than the list; else the list. */
  #snapshot(): Snapshot {
    const { snapshot } = this.#followed
    if (snapshot.np !== null && (snapshot.via !== null || (snapshot.trueAtMs ?? 0) > this.listedAtMs))
      return snapshot
    const status = this.isListStale ? 'stale' : 'live'
    return { status, reason: null, via: null, np: this.listed, trueAtMs: this.listedAtMs }
  }

  #progress(np: NowPlaying): Progress | null {
    const usesList = this.#followed.snapshot.via === null && !this.isListStale
    return this.#followed.progress ?? (usesList ? listedProgress(np, this.listedAtMs) : null)
  }

  #dispatchStatusChange({ np, status }: Snapshot): void {
    if (np === null) return
    const next = `${status === 'live'} ${np.is_online} ${np.live.is_live}`
    if (this.#status !== '' && this.#status !== next)
      this.dispatchEvent(new Event(stationStatusEvent, { bubbles: true }))
    this.#status = next
  }
}

/**
 * The progress of a listed song, extrapolated from the time when the list was read. Null if the duration is
 * unknown: the elapsed time is not reported then.
 */
function listedProgress(np: NowPlaying, listedAtMs: number): Progress | null {
  const { played_at: playedAt, elapsed, duration } = np.now_playing
  if (duration === 0) return null
  return progressAt(np, (playedAt + elapsed) * 1_000 + Date.now() - listedAtMs)
}
