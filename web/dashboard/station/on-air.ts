import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying } from '../../client/interface.ts'
import { followFor } from '../../elements/followed-station.ts'
import { statusLineOf } from '../../elements/status-line.ts'
import { progressView } from '../../elements/time-text.ts'
import { callApi, done, server } from '../api/call-api.ts'
import { keyOfTab } from '../api/key.ts'
import { titleOf } from '../stations/station-card.ts'
import { actionFor, confirmed } from '../ui/actions.ts'
import { isolated, LightElement } from '../ui/light-element.ts'
import { notify } from '../ui/notice.ts'
import { counted, number } from '../ui/text.ts'
import { zoneTime } from '../ui/time.ts'

/** What a station plays now, and the button that ends it. */
export class OnAir extends LightElement {
  static override properties = {
    station: { attribute: false },
    maySkip: { attribute: false },
    isOld: { attribute: false }
  }
  declare station: string
  declare maySkip: boolean
  /** Whether the server does not answer. */
  declare isOld: boolean

  readonly #followed = followFor(
    this,
    () => ({ server, station: this.station, apiKey: keyOfTab() }),
    ({ np }) => this.#watch(np)
  )
  readonly #acting = actionFor(this)
  /** While it is asked whether a play is to be skipped: which, and what ends the question. */
  #question: { readonly shId: number; readonly aborter: AbortController } | null = null

  protected override render() {
    const { snapshot } = this.#followed
    const { np, status } = snapshot
    const { kind, text } = statusLineOf(snapshot, zoneTime(np?.station.timezone ?? 'UTC').time)
    const state = html`<p class="eyebrow" data-kind=${kind} role="status">${text}</p>`
    if (np === null) return html`<section class="panel on-air" aria-label="On the air">${state}</section>`
    const { song, sh_id: shId, playlist, is_request: isRequest } = np.now_playing
    return html`<section class="panel on-air" aria-label="On the air" data-status=${status}>
      <song-cover .address=${song.art} .isPrivate=${!np.station.is_public}></song-cover>
      <div class="on-air-song">
        ${state}
        ${keyed(
          shId,
          html`<p class="on-air-title" title=${song.title}>${titleOf(np)}</p>
            <p class="on-air-artist">${song.artist}</p>
            <p class="quiet">
              ${[song.album, playlist, isRequest ? 'Requested' : ''].filter(Boolean).join(' · ')}
            </p>`
        )}
      </div>
      <div class="on-air-rest">
        ${np.is_online ? progressView(this.#followed.progress) : nothing}
        <div class="on-air-foot">
          <p>
            <strong>${counted(np.listeners.total, 'listener')}</strong>, ${number(np.listeners.unique)}
            different
          </p>
          ${this.maySkip && np.is_online ? this.#skipView(np, status === 'live' && !this.isOld) : nothing}
        </div>
        ${nextView(np)}
      </div>
    </section>`
  }

  #skipView(np: NowPlaying, isTrue: boolean) {
    const isUnderWay = this.#acting.underWay !== null
    return html`<button
      type="button"
      class="button"
      aria-busy=${isUnderWay}
      ?disabled=${isUnderWay || !isTrue}
      @click=${() => void this.#skip(np)}
    >
      ${isUnderWay ? 'Skipping…' : 'Skip'}
    </button>`
  }

  async #skip(np: NowPlaying): Promise<void> {
    const next = np.playing_next
    const shId = np.now_playing.sh_id
    const aborter = new AbortController()
    this.#question = { shId, aborter }
    const choice = {
      title: `Skip “${isolated(titleOf(np))}”?`,
      text:
        next === null
          ? 'The next song follows at once.'
          : `“${isolated(next.song.title || next.song.text)}” follows at once.`,
      verb: 'Skip'
    }
    const isMeant = await confirmed(choice, aborter.signal)
    this.#question = null
    if (!isMeant) return
    await this.#acting.act('skip', async () => {
      const path = `api/station/${encodeURIComponent(this.station)}/backend/skip`
      // Another song may begin while this is on its way. What is silent has no number.
      const body = shId === 0 ? {} : { sh_id: shId }
      return (await callApi(done, path, { method: 'POST', body })).message
    })
  }

  /** What has ended needs no skipping, and nobody meant the song after it. */
  #watch(np: NowPlaying | null): void {
    if (this.#question === null || np === null || np.now_playing.sh_id === this.#question.shId) return
    this.#question.aborter.abort()
    notify(this, { text: 'Another song has begun.', isBad: false })
  }
}

function nextView({ playing_next: next, station }: NowPlaying) {
  if (next === null) return nothing
  const { title, artist, text } = next.song
  return html`<p class="on-air-next">
    <span class="quiet">${zoneTime(station.timezone).time(next.played_at)}</span>
    ${title || text}${artist === '' ? '' : html` <span class="quiet">${artist}</span>`}
  </p>`
}
