import { html, LitElement, unsafeCSS } from 'lit'

import type { FollowOptions, NowPlaying } from '../client/interface.ts'
import { artAddress } from '../elements/art-address.ts'
import { canPlay } from '../elements/can-play.ts'
import { followFor } from '../elements/followed-station.ts'
import { openListening } from '../elements/listening.ts'
import { serverOf } from '../elements/server-address.ts'
import { type StatusLine, statusLineOf } from '../elements/status-line.ts'
import { streamsFor } from '../elements/streams.ts'
import { badgeView, cardView, fullView } from './views.ts'

import styles from './widget.css' with { type: 'text' }

/**
 * What a station plays, for any website:
 *
 *     <script type="module" src="https://radio.example.com/widget.js"></script>
 *     <cuewire-now-playing station="demo" size="card"></cuewire-now-playing>
 *
 * - `station`: short name or id. `server`: where Cuewire is, if not where this script is from.
 * - `size`: `badge`, `card` (unless given) or `full`.
 * - `theme`: `light`, `dark`, `auto` (as the visitor's system); else as the page around it.
 * - `api-key`: of a private station. Never in a page that others see.
 *
 * Tells `cuewire-change`, with the client's snapshot as its `detail`. It asks no other server for anything,
 * but for the stream when somebody listens, and leaves nothing behind in the browser.
 */
export class CuewireNowPlaying extends LitElement {
  static override styles = unsafeCSS(styles)
  static override properties = {
    station: {},
    server: {},
    apiKey: { attribute: 'api-key' },
    size: { reflect: true },
    theme: { reflect: true }
  }
  declare station: string
  declare server: string
  declare apiKey: string
  declare size: string
  declare theme: string

  readonly #station = followFor(
    this,
    () => this.#wish(),
    detail => this.dispatchEvent(new CustomEvent('cuewire-change', { detail, bubbles: true, composed: true }))
  )
  readonly #listening = openListening(new Audio(), () => this.requestUpdate())

  constructor() {
    super()
    this.station = ''
    this.server = serverOf(import.meta.url).href
    this.apiKey = ''
    this.size = 'card'
    this.theme = ''
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#listening.stop()
  }

  protected override render() {
    const { snapshot } = this.#station
    const { np } = snapshot
    const view = views[this.size] ?? cardView
    const streams = np === null ? [] : streamsFor(np.station, canPlay)
    const [stream] = streams
    return html`${view({
      np,
      saying: this.#wish() === null ? useless(this.station) : statusLineOf(snapshot),
      isDoubtful: snapshot.status === 'stale' || snapshot.status === 'offline',
      progress: this.#station.progress,
      nowMs: this.#station.serverTimeMs(),
      artOf: address => (np === null ? '' : this.#artOf(address, np)),
      sound: this.#listening.sound,
      play: stream ? () => this.#listening.play(stream.url) : null,
      stop: () => this.#listening.stop()
    })}`
  }

  #wish(): FollowOptions | null {
    const { station, server, apiKey } = this
    return station === '' || !URL.canParse(server) ? null : { station, server, apiKey }
  }

  #artOf(address: string, np: NowPlaying): string {
    return artAddress(address, { server: this.server, apiKey: this.apiKey }, np)
  }
}

/** What is said where there is nothing that could be followed. */
const useless = (station: string): StatusLine => ({
  kind: 'doubt',
  text: station === '' ? 'No station is named' : 'The server is not an address'
})

const views: Readonly<Record<string, typeof cardView>> = { badge: badgeView, card: cardView, full: fullView }

// A page may load it twice, under two names.
if (!customElements.get('cuewire-now-playing'))
  customElements.define('cuewire-now-playing', CuewireNowPlaying)
