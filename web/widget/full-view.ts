import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying } from '../client/interface.ts'
import { coverView } from '../elements/cover-view.ts'
import { playIcon, stopIcon } from '../elements/icons.ts'
import { isOn } from '../elements/listening.ts'
import { progressView } from '../elements/progress-view.ts'
import { songLine } from '../elements/song-words.ts'
import { timeOfDay } from '../elements/time-text.ts'
import type { Sight } from './sight.ts'
import { sayingView, songView } from './words.ts'

const rowsAtMost = 3

/** A small player: picture, song, sound, what comes and what was. */
export function fullView(sight: Sight) {
  const { np, saying, isDoubtful, progress, artOf } = sight
  return html`<div
    class="frame full ${isDoubtful ? 'doubtful' : ''}"
    part="frame"
    role="group"
    aria-label=${np?.station.name ?? 'Radio'}
  >
    ${sayingView(saying, np)} ${coverView(np === null ? '' : artOf(np.now_playing.song.art))}
    ${np === null ? nothing : keyed(np.now_playing.sh_id, songView(np))}
    <div class="low">
      ${playView(sight)} ${np?.is_online ? keyed(np.now_playing.sh_id, progressView(progress)) : nothing}
    </div>
    ${np === null ? nothing : rowsView(np, sight.nowMs)}
  </div>`
}

function playView({ np, sound, play, stop }: Sight) {
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
