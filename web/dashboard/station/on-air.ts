import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying } from '../../client/interface.ts'
import { followStationFor } from '../../elements/followed-station.ts'
import { describeStationStatus } from '../../elements/status-line.ts'
import { progressBarView } from '../../elements/time-text.ts'
import { callAction, currentApiKey, serverBaseUrl } from '../api/call-api.ts'
import { confirmAction, showNotice, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { formatCount, formatNumber, isolateBidi } from '../ui/text.ts'
import { getZoneClock } from '../ui/time.ts'
import { currentSongTitle, backendPlaysQueue } from './play-source.ts'

/** The current song of a station, and the button that skips it. */
export class OnAir extends StationElement {
  static override properties = reactiveProperties<OnAir>('canSkip', 'isOutdated')
  declare canSkip: boolean
  /** Whether the server does not respond. */
  declare isOutdated: boolean

  readonly #followed = followStationFor(
    this,
    () => ({ server: serverBaseUrl, station: this.station, apiKey: currentApiKey() }),
    ({ np }) => this.#cancelOutdatedSkip(np)
  )
  readonly #actions = openActionRunner(this)
  /** The play that the operator is asked to skip, and what closes the dialog. */
  #question: { readonly shId: number; readonly aborter: AbortController } | null = null

  protected override render() {
    const { snapshot } = this.#followed
    const { np, status } = snapshot
    const { kind, text } = describeStationStatus(
      snapshot,
      getZoneClock(np?.station.timezone ?? 'UTC').formatTime
    )
    const statusLine = html`<p class="eyebrow" data-kind=${kind} role="status">${text}</p>`
    if (np === null)
      return html`<section class="panel on-air" aria-label="On the air">${statusLine}</section>`
    const { song, sh_id: shId, playlist, is_request: isRequest } = np.now_playing
    return html`<section class="panel on-air" aria-label="On the air" data-status=${status}>
      <song-cover .address=${song.art} .isPrivate=${!np.station.is_public}></song-cover>
      <div class="on-air-song">
        ${statusLine}
        ${keyed(
          shId,
          html`<p class="on-air-title" title=${song.title}>${currentSongTitle(np)}</p>
            <p class="on-air-artist">${song.artist}</p>
            <p class="quiet">
              ${[song.album, playlist, isRequest ? 'Requested' : '', isManual(np) ? 'Manual' : ''].filter(Boolean).join(' · ')}
            </p>`
        )}
      </div>
      <div class="on-air-rest">
        ${np.is_online ? progressBarView(this.#followed.progress) : nothing}
        <div class="on-air-foot">
          <p>
            <strong>${formatCount(np.listeners.total, 'listener')}</strong>,
            ${formatNumber(np.listeners.unique)} unique
          </p>
          ${this.canSkip && np.is_online ? this.#skipView(np, status === 'live' && !this.isOutdated) : nothing}
        </div>
        ${nextView(np)}
      </div>
    </section>`
  }

  #skipView(np: NowPlaying, isCurrent: boolean) {
    const isBusy = this.#actions.inFlight !== null
    return buttonView(isBusy ? 'Skipping…' : 'Skip', () => this.#skip(np), {
      isBusy,
      isDisabled: isBusy || !isCurrent
    })
  }

  async #skip(np: NowPlaying): Promise<void> {
    const { now_playing: playing, playing_next: next } = np
    const shId = playing.sh_id
    const aborter = new AbortController()
    this.#question = { shId, aborter }
    const nextTitle = next === null ? 'The next song' : `“${isolateBidi(next.song.title || next.song.text)}”`
    const isConfirmed = await confirmAction(
      {
        title: `Skip “${isolateBidi(currentSongTitle(np))}”?`,
        text: `${nextTitle} starts immediately.`,
        verb: 'Skip'
      },
      aborter.signal
    )
    this.#question = null
    if (!isConfirmed) return
    await this.#actions.run('skip', () =>
      // The id prevents that a song that starts meanwhile is skipped. It is 0 while nothing plays.
      callAction('POST', `${this.path}/backend/skip`, { body: shId === 0 ? {} : { sh_id: shId } })
    )
  }

  /** Closes the dialog if its song has ended: the operator did not mean the next one. */
  #cancelOutdatedSkip(np: NowPlaying | null): void {
    if (this.#question === null || np === null || np.now_playing.sh_id === this.#question.shId) return
    this.#question.aborter.abort()
    showNotice(this, { text: 'Another song has started.', isError: false })
  }
}

/** Whether an operator added the current song to the queue. */
const isManual = ({
  station,
  live,
  now_playing: { sh_id: shId, playlist, is_request: isRequest }
}: NowPlaying) =>
  backendPlaysQueue(station.backend) && shId !== 0 && playlist === '' && !isRequest && !live.is_live

function nextView({ playing_next: next, station }: NowPlaying) {
  if (next === null) return nothing
  const { title, artist, text } = next.song
  return html`<p class="on-air-next">
    <span class="quiet">${getZoneClock(station.timezone).formatTime(next.played_at)}</span>
    ${title || text}${artist === '' ? '' : html` <span class="quiet">${artist}</span>`}
  </p>`
}
