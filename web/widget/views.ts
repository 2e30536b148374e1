import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying, Progress } from '../client/interface.ts'
import { coverView } from '../elements/cover-view.ts'
import { playIcon, stopIcon } from '../elements/icons.ts'
import { isOn, type Sound } from '../elements/listening.ts'
import { type StatusLine, songLine } from '../elements/status-line.ts'
import { progressView, timeOfDay } from '../elements/time-text.ts'

const rowsAtMost = 3

/** A small player: picture, song, sound, what comes and what was. */
export function fullView(sight: WidgetState) {
  const { np, saying, isDoubtful, progress, artOf } = sight
  return html`<div
    class="frame full ${isDoubtful ? 'doubtful' : ''}"
    part="frame"
    role="group"
    aria-label=${np?.station.name ?? 'Radio'}
  >
    ${statusLineView(saying, np)} ${coverView(np === null ? '' : artOf(np.now_playing.song.art))}
    ${np === null ? nothing : keyed(np.now_playing.sh_id, songView(np))}
    <div class="low">
      ${playView(sight)} ${np?.is_online ? keyed(np.now_playing.sh_id, progressView(progress)) : nothing}
    </div>
    ${np === null ? nothing : rowsView(np, sight.nowMs)}
  </div>`
}

function playView({ np, sound, play, stop }: WidgetState) {
  const isSounding = isOn(sound)
  const isUseless = !isSounding && (play === null || np?.is_online !== true)
  return html`<button
    class="play"
    part="play"
    type="button"
    data-sound=${sound}
    aria-label=${isSounding ? 'Stop' : sound === 'failed' ? 'Listen: the stream did not answer' : 'Listen'}
    ?disabled=${isUseless}
    @click=${isSounding ? stop : play}
  >
    ${isSounding ? stopIcon : playIcon}
  </button>`
}

/** The next song and the last ones, with the visitor's time. */
function rowsView({ playing_next: next, song_history: history }: NowPlaying, nowMs: number) {
  const rows = [...(next === null ? [] : [{ ...next, isNext: true }]), ...history.slice(0, rowsAtMost)]
  if (rows.length === 0) return nothing
  return keyed(
    history[0]?.sh_id,
    html`<ol class="rows" part="rows">
      ${rows.map(
        row =>
          html`<li class="row" part="row">
            <span class="soft">${'isNext' in row ? 'Next' : timeOfDay(row.played_at, nowMs)}</span>
            <span class="line" dir="auto">${songLine(row.song)}</span>
          </li>`
      )}
    </ol>`
  )
}

/** What there is to show, in whatever size. */
export interface WidgetState {
  readonly np: NowPlaying | null
  readonly saying: StatusLine
  /** It may not be true any more. */
  readonly isDoubtful: boolean
  readonly progress: Progress | null
  /** The server's clock. */
  readonly nowMs: number
  readonly artOf: (address: string) => string
  readonly sound: Sound
  /** Null where there is nothing to listen to. */
  readonly play: (() => void) | null
  readonly stop: () => void
}

/** The station, or what has to be said instead; it leads to the player. */
export function statusLineView({ kind, text }: StatusLine, np: NowPlaying | null) {
  const words = kind === 'plain' && np !== null ? np.station.name : text
  const inside = html`<span class="lamp" part="lamp" data-kind=${kind}></span
    ><span class="line" dir="auto">${words}</span>`
  return html`<p class="saying" part="saying" data-kind=${kind}>
    ${
      np === null
        ? inside
        : html`<a class="saying" href=${np.station.public_player_url} target="_blank" rel="noopener"
            >${inside}</a
          >`
    }
  </p>`
}

/** What plays, in two lines. */
export function songView({ now_playing: { song } }: NowPlaying) {
  return html`<div class="song">
    <p class="title line" part="title" dir="auto" title=${song.title}>${song.title || song.text}</p>
    <p class="artist line soft" part="artist" dir="auto">${song.artist}</p>
  </div>`
}

/** One line that leads to the player. */
export function badgeView({ np, saying, isDoubtful }: WidgetState) {
  const { kind, text } = saying
  const name = np?.station.name ?? ''
  const isSong = np !== null && !isDoubtful && np.is_online
  const line = isSong ? songLine(np.now_playing.song) : text
  const label = isSong
    ? `${name}, ${kind === 'live' ? `live with ${text}` : 'now playing'}: ${line}`
    : `${name} ${line}`
  const inside = html`<span class="lamp" part="lamp" data-kind=${kind}></span
    ><span class="line" part="title" dir="auto">${line}</span>`
  return np === null
    ? html`<span class="frame badge" part="frame">${inside}</span>`
    : html`<a
        class="frame badge"
        part="frame"
        href=${np.station.public_player_url}
        target="_blank"
        rel="noopener"
        aria-label=${label}
        title=${label}
        >${inside}</a
      >`
}

/** A picture, two lines and the bar; all of it leads to the player. */
export function cardView({ np, saying, isDoubtful, progress, artOf }: WidgetState) {
  return html`<div
    class="frame card ${isDoubtful ? 'doubtful' : ''}"
    part="frame"
    role="group"
    aria-label=${np?.station.name ?? 'Radio'}
  >
    ${coverView(np === null ? '' : artOf(np.now_playing.song.art))}
    <div class="words">
      ${statusLineView(saying, np)} ${np === null ? nothing : keyed(np.now_playing.sh_id, songView(np))}
      ${np?.is_online ? keyed(np.now_playing.sh_id, progressView(progress)) : nothing}
    </div>
  </div>`
}
