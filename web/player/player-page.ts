import { html, LitElement, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { FollowOptions, NowPlaying } from '../client/interface.ts'
import { isObject, isPublishedData } from '../client/message.ts'
import { authorizedArtUrl, serverUrlOfFile, authorizedStreamUrl } from '../elements/addresses.ts'
import { isSoundActive, openAudioPlayer } from '../elements/audio-player.ts'
import { coverView } from '../elements/cover-view.ts'
import { followStationFor } from '../elements/followed-station.ts'
import { openHlsLoader } from '../elements/hls-loader.ts'
import { describeStationStatus, type StationLine } from '../elements/status-line.ts'
import { isMissingStream, listStreams, type PlayableStream } from '../elements/streams.ts'
import { progressBarView } from '../elements/time-text.ts'
import { wakeWithPage } from '../elements/wake-with-page.ts'
import { playerControlsView, loadVolume } from './controls-view.ts'
import { updateMediaSession, updatePlaybackState } from './media-session.ts'
import { historyView, nextSongView } from './song-lists.ts'

/** The content of the player page. It has no shadow root and uses the styles of the page. */
class CuewirePlayer extends LitElement {
  static override properties = { options: { attribute: false }, selected: { state: true } }
  options: FollowOptions | null = null
  /** The address of the stream that the visitor selected; empty for the default one. */
  selected = ''

  readonly #station = followStationFor(
    this,
    () => this.options && { ...this.options, delay: this.#delay },
    snapshot => {
      updateMediaSession(snapshot, this.#name, this.#artUrl, {
        play: this.#play,
        stop: () => this.#audio.stop()
      })
      const stream = this.#stream
      if (stream !== null) this.#audio.move(stream)
    }
  )
  /** What the page was loaded with, which is not animated. */
  #first: { readonly shId: number; readonly art: string } | null = null
  /** The last name of the station, which may no longer exist. */
  #name = ''
  #historyLength = 0
  readonly #media = new Audio()
  readonly #audio = openAudioPlayer(
    this.#media,
    () => {
      updatePlaybackState(this.#audio.sound)
      this.requestUpdate()
    },
    openHlsLoader(
      this.#media,
      () => serverUrlOfFile(import.meta.url),
      () => this.#station.serverTimeMs()
    ),
    isMissingStream
  )

  readonly #delay = () => this.#audio.delay()

  constructor() {
    super()
    this.#audio.setVolume(loadVolume())
    wakeWithPage(() => this.#audio.wake())
    // The page allows only the streams that the station had when it was loaded.
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
      if (effectiveDirective === 'media-src') this.#audio.forbid()
    })
  }

  protected override createRenderRoot(): this {
    // Replaces the content that the server rendered.
    this.replaceChildren()
    return this
  }

  protected override render() {
    const { snapshot } = this.#station
    const { np } = snapshot
    const status = describeStationStatus(snapshot)
    const song = np?.now_playing
    if (np !== null && song) {
      this.#first ??= { shId: song.sh_id, art: song.song.art }
      this.#name = np.station.name
    }
    const nowMs = this.#station.serverTimeMs()
    return html`
      <header class="masthead">
        <h1 class="station" dir="auto">${this.#name}</h1>
        <p class="description" dir="auto">${np?.station.description}</p>
      </header>
      <main
        class="now"
        data-status=${snapshot.status}
        data-air=${np?.is_online === false ? 'off' : 'on'}
        data-song=${this.#first?.shId === song?.sh_id ? 'first' : 'new'}
        data-art=${this.#first?.art === song?.song.art ? 'first' : 'new'}
      >
        ${np === null ? this.#emptyView(status) : this.#songView(np, status)}
      </main>
      ${
        np === null
          ? nothing
          : html`${nextSongView(np, this.#artUrl, nowMs)} ${historyView(np, nowMs)} ${this.#footerView(np)}`
      }
      <p class="visually-hidden" role="status">${formatAnnouncement(status, np)}</p>
    `
  }

  /** A station may be renamed while its page is open. Its address changes too, so that it can be reloaded. */
  protected override updated(): void {
    const { shortcode } = this.#station.snapshot.np?.station ?? {}
    const [, before, name = ''] = /^(.*\/public\/)([^/]+)$/.exec(location.pathname) ?? []
    if (!shortcode || before === undefined || /^\d+$/.test(name) || name === shortcode) return
    history.replaceState(null, '', `${before}${encodeURIComponent(shortcode)}${location.search}`)
  }

  #songView(np: NowPlaying, status: StationLine) {
    const { song, sh_id: shId } = np.now_playing
    const cover = coverView(this.#artUrl(song.art))
    // Each play gets new elements, so that nothing moves within the page.
    return html`
      <div class="backdrop" aria-hidden="true">${cover}</div>
      ${cover}
      <div class="song">
        ${keyed(
          shId,
          html`<div class="song-text">
            ${statusView(status)}
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
        ${np.is_online ? keyed(shId, progressBarView(this.#station.progress)) : nothing}
        ${this.#controlsView(np)}
      </div>
    `
  }

  /** Without a document. A stream that plays can still be stopped. */
  #emptyView(status: StationLine) {
    return html`<div class="song">
      <div class="song-text">${statusView(status)}</div>
      ${isSoundActive(this.#audio.sound) ? this.#controlsView(null) : nothing}
    </div>`
  }

  #controlsView(np: NowPlaying | null) {
    return playerControlsView({
      streams: np === null ? [] : listStreams(np.station, this.#audio.canPlay),
      selected: this.selected,
      isOnline: np?.is_online ?? false,
      audio: this.#audio,
      play: this.#play,
      select: url => {
        this.selected = url
        if (this.#audio.sound !== 'silent') this.#play()
      }
    })
  }

  /** The links are new elements when the history grows, so that nothing moves, unless one has the focus. */
  #footerView({ station, song_history: { length } }: NowPlaying) {
    if (!this.querySelector('.links:focus-within')) this.#historyLength = length
    const { apiKey, token } = this.options ?? {}
    const credential = token ? { token: String(token) } : { api_key: apiKey ?? '' }
    const query = token || apiKey ? `?${new URLSearchParams(credential).toString()}` : ''
    const path = `${station.shortcode}/`
    return keyed(
      this.#historyLength,
      html`<footer class="links">
        ${
          this.#stream === null
            ? nothing
            : html`<a href="${path}playlist.m3u${query}">M3U</a>
                <a href="${path}playlist.pls${query}">PLS</a>`
        }
        ${station.url && /^https?:/i.test(station.url) ? html`<a href=${station.url} rel="noopener">Website</a>` : nothing}
        ${station.is_public ? html`<a href="${path}widgets">For your website</a>` : nothing}
      </footer>`
    )
  }

  readonly #artUrl = (address: string) => {
    const { np } = this.#station.snapshot
    return np === null || this.options === null ? '' : authorizedArtUrl(address, this.options, np)
  }

  /** The stream that is selected, with its access; null if there is none. */
  get #stream(): PlayableStream | null {
    const { np } = this.#station.snapshot
    if (np === null || this.options === null) return null
    const streams = listStreams(np.station, this.#audio.canPlay)
    const stream = streams.find(({ url }) => url === this.selected) ?? streams[0]
    return stream === undefined ? null : { ...stream, url: authorizedStreamUrl(stream.url, this.options, np) }
  }

  readonly #play = () => {
    const stream = this.#stream
    if (stream !== null) this.#audio.play(stream)
  }
}

const statusView = ({ kind, text }: StationLine) =>
  html`<p class="eyebrow" data-kind=${kind}><span class="eyebrow-text" dir="auto">${text}</span></p>`

/** The text that screen readers announce when it changes. */
function formatAnnouncement({ kind, text }: StationLine, np: NowPlaying | null): string {
  const { artist, title } = np?.now_playing.song ?? { artist: '', title: '' }
  if (kind === 'quiet' || kind === 'warning') return text
  return `${kind === 'live' ? `Live: ${text}. ` : ''}Now playing: ${title}${artist === '' ? '' : ` by ${artist}`}`
}

customElements.define('cuewire-player', CuewirePlayer)

/** Starts the player with the document that the server rendered into the page. */
function start(): void {
  const player = document.querySelector('cuewire-player')
  const known: unknown = JSON.parse(document.querySelector('#shown')?.textContent ?? '{}')
  if (!(player instanceof CuewirePlayer) || !isObject(known) || !isPublishedData(known)) return
  const { np, epoch, offset, timeMs, station } = known
  const query = new URLSearchParams(location.search)
  player.options = {
    server: serverUrlOfFile(import.meta.url),
    station: String(station),
    apiKey: query.get('api_key') ?? '',
    token: query.get('token') ?? '',
    known: { np, epoch: String(epoch), offset: Number(offset), timeMs: Number(timeMs) }
  }
}

start()
