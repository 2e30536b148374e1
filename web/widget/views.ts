import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying, Progress } from '../client/interface.ts'
import { coverView } from '../elements/cover-view.ts'
import { type PlayControls, playButtonView } from '../elements/play-button.ts'
import { formatSong, type StationLine } from '../elements/status-line.ts'
import { formatTimeOfDay, progressBarView } from '../elements/time-text.ts'

/** What the widget shows, in any size. */
export interface WidgetState {
  readonly np: NowPlaying | null
  readonly status: StationLine
  /** Whether the document may be out of date. */
  readonly isStale: boolean
  readonly progress: Progress | null
  /** The server's clock. */
  readonly nowMs: number
  /** The address of the cover; empty if there is none to show. */
  readonly art: string
  readonly button: PlayControls
}

const maxHistoryRows = 3

/** Size `badge`: one line that links to the player. */
export function badgeView({ np, status: { kind, text }, isStale }: WidgetState) {
  const name = np?.station.name ?? ''
  const isSong = np !== null && !isStale && np.is_online
  const line = isSong ? formatSong(np.now_playing.song) : text
  const label = isSong
    ? `${name}, ${kind === 'live' ? `live with ${text}` : 'now playing'}: ${line}`
    : `${name} ${line}`
  const content = html`<span class="lamp" part="lamp" data-kind=${kind}></span
    ><span class="line" part="title" dir="auto">${line}</span>`
  return np === null
    ? html`<span class="frame badge" part="frame">${content}</span>`
    : html`<a
        class="frame badge"
        part="frame"
        href=${np.station.public_player_url}
        target="_blank"
        rel="noopener"
        aria-label=${label}
        title=${label}
        >${content}</a
      >`
}

/** Size `card`: the cover, two lines and the progress bar. */
export const cardView = (state: WidgetState) =>
  frameView(
    'card',
    state,
    html`${coverView(state.art)}
      <div class="words">${statusView(state)} ${songView(state)} ${songProgressView(state)}</div>`
  )

/** Size `full`: a small player with the next song and the history. */
export const fullView = (state: WidgetState) =>
  frameView(
    'full',
    state,
    html`${statusView(state)} ${coverView(state.art)} ${songView(state)}
      <div class="low">${playButtonView(state.button)} ${songProgressView(state)}</div>
      ${rowsView(state)}`
  )

function frameView(size: string, { np, isStale }: WidgetState, content: unknown) {
  return html`<div
    class="frame ${size} ${isStale ? 'stale' : ''}"
    part="frame"
    role="group"
    aria-label=${np?.station.name ?? 'Radio'}
  >
    ${content}
  </div>`
}

/** The name of the station with a link to the player, or its status. */
function statusView({ np, status: { kind, text } }: WidgetState) {
  const content = html`<span class="lamp" part="lamp" data-kind=${kind}></span
    ><span class="line" dir="auto">${kind === 'plain' && np !== null ? np.station.name : text}</span>`
  return html`<p class="status" part="status" data-kind=${kind}>
    ${
      np === null
        ? content
        : html`<a class="status" href=${np.station.public_player_url} target="_blank" rel="noopener"
            >${content}</a
          >`
    }
  </p>`
}

/** Title and artist. */
function songView({ np }: WidgetState) {
  if (np === null) return nothing
  const { song, sh_id: shId } = np.now_playing
  return keyed(
    shId,
    html`<div class="song">
      <p class="title line" part="title" dir="auto" title=${song.title}>${song.title || song.text}</p>
      <p class="artist line soft" part="artist" dir="auto">${song.artist}</p>
    </div>`
  )
}

const songProgressView = ({ np, progress }: WidgetState) =>
  np?.is_online ? keyed(np.now_playing.sh_id, progressBarView(progress)) : nothing

/** The next song and the history. */
function rowsView({ np, nowMs }: WidgetState) {
  const { playing_next: next = null, song_history: history = [] } = np ?? {}
  const rows = history.slice(0, maxHistoryRows).map(({ played_at: playedAt, song }) => ({
    label: formatTimeOfDay(playedAt, nowMs),
    song
  }))
  if (next !== null) rows.unshift({ label: 'Next', song: next.song })
  if (rows.length === 0) return nothing
  return keyed(
    history[0]?.sh_id,
    html`<ol class="rows" part="rows">
      ${rows.map(
        ({ label, song }) =>
          html`<li class="row" part="row">
            <span class="soft">${label}</span>
            <span class="line" dir="auto">${formatSong(song)}</span>
          </li>`
      )}
    </ol>`
  )
}
