import { html, LitElement, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { FollowOptions, NowPlaying, Snapshot } from '../client/interface.ts'
import { artAddress } from '../elements/art-address.ts'
import { canPlay } from '../elements/can-play.ts'
import { coverView } from '../elements/cover-view.ts'
import { followFor } from '../elements/followed-station.ts'
import { isOn, openListening, type Sound } from '../elements/listening.ts'
import { type StatusLine, statusLineOf } from '../elements/status-line.ts'
import { streamsFor } from '../elements/streams.ts'
import { progressView } from '../elements/time-text.ts'
import { controlsView } from './controls-view.ts'
import { keepVolume, keptVolume } from './kept-volume.ts'
import { historyView, nextView } from './past-and-next.ts'

/**
 * The player page: everything between its first and its last word. In the document itself, with the page's
 * styles.
 */
export class CuewirePlayer extends LitElement {
  static override properties = { wish: { attribute: false }, chosen: { state: true } }
  /** What to follow. Set before the element is put into a page. */
  declare wish: FollowOptions | null
  /** The address of the stream that the visitor chose; empty: the station's choice. */
  declare chosen: string

  readonly #station = followFor(
    this,
    () => this.wish,
    snapshot => showSession(snapshot, this.#name, this.#artOf, { play: this.#play, stop: this.#stop })
  )
  /** What was there at first sight. */
  #first: { readonly shId: number; readonly art: string } | null = null
  /** What the station was called last: it may be gone. */
  #name = ''
  /** How much history the links stand below. */
  #historyLength = 0
  readonly #listening = openListening(new Audio(), () => {
    showSound(this.#listening.sound)
    this.requestUpdate()
  })

  constructor() {
    super()
    this.wish = null
    this.chosen = ''
    this.#listening.setVolume(keptVolume())
  }

  override connectedCallback(): void {
    super.connectedCallback()
    document.addEventListener('securitypolicyviolation', this.#learnPolicy)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    document.removeEventListener('securitypolicyviolation', this.#learnPolicy)
  }

  protected override createRenderRoot(): this {
    // What the server wrote for the first sight is replaced.
    this.replaceChildren()
    return this
  }

  protected override render() {
    const { snapshot } = this.#station
    const { np } = snapshot
    const saying = statusLineOf(snapshot)
    if (np !== null) {
      this.#first ??= { shId: np.now_playing.sh_id, art: np.now_playing.song.art }
      this.#name = np.station.name
    }
    return html`
      <header class="masthead">
        <h1 class="station" dir="auto">${this.#name}</h1>
        <p class="description" dir="auto">${np?.station.description}</p>
      </header>
      <main
        class="now"
        data-status=${snapshot.status}
        data-air=${np?.is_online === false ? 'off' : 'on'}
        data-song=${this.#first?.shId === np?.now_playing.sh_id ? 'first' : 'new'}
        data-art=${this.#first?.art === np?.now_playing.song.art ? 'first' : 'new'}
      >
        ${np === null ? this.#nothingView(saying) : this.#songView(np, saying)}
      </main>
      ${
        np === null
          ? nothing
          : html`${nextView(np, this.#artOf, this.#station.serverTimeMs())}
            ${historyView(np, this.#station.serverTimeMs())} ${this.#linksView(np)}`
      }
      <p class="only-heard" role="status">${heard(saying, np)}</p>
    `
  }

  protected override updated(): void {
    const { np } = this.#station.snapshot
    if (np !== null) this.#followName(np)
  }

  #songView(np: NowPlaying, saying: StatusLine) {
    const { song, sh_id: shId } = np.now_playing
    const art = this.#artOf(song.art)
    // What belongs to one play is made anew for the next: nothing moves over the page.
    return html`
      <div class="backdrop" aria-hidden="true">${coverView(art)}</div>
      ${coverView(art)}
      <div class="song">
        ${keyed(
          shId,
          html`<div class="song-text">
            ${sayingView(saying)}
            <h2
              class="title"
              dir="auto"
              title=${song.title}
              data-length=${song.title.length > 42 ? 'long' : 'short'}
            >
              ${song.title || song.text}
            </h2>
            <p class="artist" dir="auto">${song.artist}</p>
            <p class="album" dir="auto">${song.album}</p>
          </div>`
        )}
        ${np.is_online ? keyed(shId, progressView(this.#station.progress)) : nothing}
        ${this.#controlsView(np)}
      </div>
    `
  }

  /** Without anything to show, there may be sound to be stopped. */
  #nothingView(saying: StatusLine) {
    return html`<div class="song">
      <div class="song-text">${sayingView(saying)}</div>
      ${isOn(this.#listening.sound) ? this.#controlsView(null) : nothing}
    </div>`
  }

  #controlsView(np: NowPlaying | null) {
    return controlsView({
      streams: np === null ? [] : streamsFor(np.station, canPlay),
      chosen: this.chosen,
      isOnline: np?.is_online ?? false,
      listening: this.#listening,
      play: this.#play,
      stop: this.#stop,
      choose: this.#choose,
      turn: this.#turn
    })
  }

  /** Where the history grows they are made anew, so that nothing moves; but not under somebody's hands. */
  #linksView(np: NowPlaying) {
    if (!this.querySelector('.links:focus-within')) this.#historyLength = np.song_history.length
    return keyed(this.#historyLength, this.#footerView(np))
  }

  /** A station may be renamed while its page is open: the address has to lead here still. */
  #followName({ station: { shortcode } }: NowPlaying): void {
    const [, before, rest = ''] = /^(.*\/public\/)([^/]+)$/.exec(location.pathname) ?? []
    if (before === undefined || /^\d+$/.test(rest) || rest === shortcode) return
    history.replaceState(null, '', `${before}${encodeURIComponent(shortcode)}${location.search}`)
  }

  #footerView({ station }: NowPlaying) {
    const key = this.wish?.apiKey ? `?${new URLSearchParams({ api_key: this.wish.apiKey }).toString()}` : ''
    const path = `${station.shortcode}/`
    return html`<footer class="links">
      <a href="${path}playlist.m3u${key}">M3U</a>
      <a href="${path}playlist.pls${key}">PLS</a>
      ${station.url === '' ? nothing : html`<a href=${station.url} rel="noopener">Website</a>`}
      ${station.is_public ? html`<a href="${path}widgets">For your website</a>` : nothing}
    </footer>`
  }

  readonly #artOf = (address: string) => {
    const { np } = this.#station.snapshot
    return np === null || this.wish === null ? '' : artAddress(address, this.wish, np)
  }

  readonly #play = () => {
    const { np } = this.#station.snapshot
    if (np === null) return
    const streams = streamsFor(np.station, canPlay)
    const stream = streams.find(({ url }) => url === this.chosen) ?? streams[0]
    if (stream) this.#listening.play(stream.url)
  }

  readonly #stop = () => this.#listening.stop()

  readonly #turn = (volume: number) => {
    this.#listening.setVolume(volume)
    keepVolume(volume)
  }

  /** A page may play the streams that the station had when it was loaded. */
  readonly #learnPolicy = ({ effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective === 'media-src') this.#listening.forbid()
  }

  readonly #choose = (url: string) => {
    this.chosen = url
    if (this.#listening.sound !== 'silent') this.#play()
  }
}

const sayingView = ({ kind, text }: StatusLine) =>
  html`<p class="eyebrow" data-kind=${kind}><span class="eyebrow-text" dir="auto">${text}</span></p>`

/** What is told to those who hear the page, when it changes. */
function heard({ kind, text }: StatusLine, np: NowPlaying | null): string {
  const { artist, title } = np?.now_playing.song ?? { artist: '', title: '' }
  if (kind === 'quiet' || kind === 'doubt') return text
  return `${kind === 'live' ? `Live: ${text}. ` : ''}Now playing: ${title}${artist === '' ? '' : ` by ${artist}`}`
}

customElements.define('cuewire-player', CuewirePlayer)

/**
 * Tells the system what is playing: its media keys, lock screens and title bars show it. `lastName`: what the
 * station was called, where it is gone.
 */
function showSession(
  { np, status }: Snapshot,
  lastName: string,
  artOf: (address: string) => string,
  acts: { readonly play: () => void; readonly stop: () => void }
): void {
  const name = np?.station.name ?? lastName
  document.title = np !== null && status === 'live' ? `${np.now_playing.song.text || name} · ${name}` : name
  if (!('mediaSession' in navigator)) return
  const { mediaSession } = navigator
  if (np === null) {
    // Nobody knows what the stream plays.
    mediaSession.metadata = null
    return
  }
  const { title, artist: by, album, art } = np.now_playing.song
  const artist = by || name
  const before = mediaSession.metadata
  const isShown = before?.title === title && before.artist === artist && before.album === album
  const src = artOf(art)
  const artwork = src === '' ? [] : [{ src }]
  if (!isShown) mediaSession.metadata = new MediaMetadata({ title, artist, album, artwork })
  mediaSession.setActionHandler('play', acts.play)
  mediaSession.setActionHandler('pause', acts.stop)
  mediaSession.setActionHandler('stop', acts.stop)
}

/** Tells the system whether there is sound. */
function showSound(sound: Sound): void {
  if ('mediaSession' in navigator) navigator.mediaSession.playbackState = isOn(sound) ? 'playing' : 'none'
}
