import { LitElement, unsafeCSS } from 'lit'

import type { FollowOptions } from '../client/interface.ts'
import { authorizedArtUrl, serverUrlOfFile, authorizedStreamUrl } from '../elements/addresses.ts'
import { openAudioPlayer } from '../elements/audio-player.ts'
import { followStationFor } from '../elements/followed-station.ts'
import { openHlsLoader } from '../elements/hls-loader.ts'
import { describeStationStatus } from '../elements/status-line.ts'
import { isMissingStream, listStreams, type PlayableStream } from '../elements/streams.ts'
import { wakeWithPage } from '../elements/wake-with-page.ts'
import { badgeView, cardView, fullView } from './views.ts'

import styles from './widget.css' with { type: 'text' }

const views: Readonly<Record<string, typeof cardView>> = { badge: badgeView, card: cardView, full: fullView }

/**
 * Shows what a station plays, on any website:
 *
 *     <script type="module" src="https://radio.example.com/widget.js"></script>
 *     <cuewire-now-playing station="demo" size="card"></cuewire-now-playing>
 *
 * - `station`: short name or id. `server`: address of the server; default: where the script is from.
 * - `size`: `badge`, `card` (default) or `full`.
 * - `theme`: `light`, `dark` or `auto` (the visitor's system); default: the color scheme of the page.
 * - `token`: a listen token for a private station. Set it again before it expires.
 * - `api-key`: for a private station. Never in a page that others see.
 *
 * Dispatches `cuewire-change` with the snapshot of the client as `detail`. Contacts no other server, except
 * for the stream when it is played, and stores nothing in the browser.
 */
export class CuewireNowPlaying extends LitElement {
  static override styles = unsafeCSS(styles)
  static override properties = {
    station: {},
    server: {},
    apiKey: { attribute: 'api-key' },
    token: {},
    size: { reflect: true },
    theme: { reflect: true }
  }
  station = ''
  server = serverUrlOfFile(import.meta.url).href
  apiKey = ''
  token = ''
  size = 'card'
  theme = ''

  readonly #followed = followStationFor(
    this,
    () => this.#options(),
    detail => {
      this.dispatchEvent(new CustomEvent('cuewire-change', { detail, bubbles: true, composed: true }))
      const stream = this.#stream
      if (stream !== null) this.#audio.move(stream)
    }
  )
  #stopWaking = () => {}
  readonly #media = new Audio()
  readonly #audio = openAudioPlayer(
    this.#media,
    () => this.requestUpdate(),
    openHlsLoader(
      this.#media,
      () => new URL(this.server),
      () => this.#followed.serverTimeMs()
    ),
    isMissingStream
  )

  override connectedCallback(): void {
    super.connectedCallback()
    this.#stopWaking = wakeWithPage(() => this.#audio.wake())
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#stopWaking()
    this.#audio.stop()
  }

  protected override render() {
    const access = this.#access()
    const { snapshot, progress } = this.#followed
    const { np } = snapshot
    const stream = this.#stream
    const view = views[this.size] ?? cardView
    return view({
      np,
      status: this.#options() === null ? this.#invalidStatus() : describeStationStatus(snapshot),
      isStale: snapshot.status === 'stale' || snapshot.status === 'offline',
      progress,
      nowMs: this.#followed.serverTimeMs(),
      art: np === null ? '' : authorizedArtUrl(np.now_playing.song.art, access, np),
      button: {
        sound: this.#audio.sound,
        hasStream: stream !== null,
        isOnline: np?.is_online === true,
        play: () => stream && this.#audio.play(stream),
        stop: () => this.#audio.stop()
      }
    })
  }

  readonly #delay = () => this.#audio.delay()

  /** The default stream, with its access; null if there is none. */
  get #stream(): PlayableStream | null {
    const { np } = this.#followed.snapshot
    const [stream] = np === null ? [] : listStreams(np.station, this.#audio.canPlay)
    return np === null || stream === undefined
      ? null
      : { ...stream, url: authorizedStreamUrl(stream.url, this.#access(), np) }
  }

  #access() {
    const { server, apiKey, token } = this
    return { server, apiKey, token }
  }

  /** Null if the attributes are invalid. */
  #options(): FollowOptions | null {
    const { station } = this
    const access = this.#access()
    return station === '' || !URL.canParse(access.server) ? null : { station, ...access, delay: this.#delay }
  }

  #invalidStatus() {
    const text =
      this.station === '' ? 'The attribute station is missing' : 'The attribute server is not a URL'
    return { kind: 'warning', text } as const
  }
}

// A page may load the script twice, under two addresses.
if (!customElements.get('cuewire-now-playing'))
  customElements.define('cuewire-now-playing', CuewireNowPlaying)
