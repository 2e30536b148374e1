import { html } from 'lit'

import { songLine } from '../elements/song-words.ts'
import type { Sight } from './sight.ts'

/** One line that leads to the player. */
export function badgeView({ np, saying, isDoubtful }: Sight) {
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
