import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import { coverView } from '../elements/cover-view.ts'
import { progressView } from '../elements/progress-view.ts'
import type { Sight } from './sight.ts'
import { sayingView, songView } from './words.ts'

/** A picture, two lines and the bar; all of it leads to the player. */
export function cardView({ np, saying, isDoubtful, progress, artOf }: Sight) {
  return html`<div
    class="frame card ${isDoubtful ? 'doubtful' : ''}"
    part="frame"
    role="group"
    aria-label=${np?.station.name ?? 'Radio'}
  >
    ${coverView(np === null ? '' : artOf(np.now_playing.song.art))}
    <div class="words">
      ${sayingView(saying, np)} ${np === null ? nothing : keyed(np.now_playing.sh_id, songView(np))}
      ${np?.is_online ? keyed(np.now_playing.sh_id, progressView(progress)) : nothing}
    </div>
  </div>`
}
