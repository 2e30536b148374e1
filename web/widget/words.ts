import { html } from 'lit'

import type { NowPlaying } from '../client/interface.ts'
import type { Saying } from '../elements/saying.ts'

/** The station, or what has to be said instead; it leads to the player. */
export function sayingView({ kind, text }: Saying, np: NowPlaying | null) {
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
