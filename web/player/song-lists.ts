import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import type { NowPlaying } from '../client/interface.ts'
import { coverView } from '../elements/cover-view.ts'
import { formatTimeOfDay } from '../elements/time-text.ts'

/** The next song with its time. */
export function nextSongView(
  { playing_next: next }: NowPlaying,
  artUrl: (address: string) => string,
  nowMs: number
) {
  return html`<section class="next" aria-labelledby="next">
    <h2 class="heading" id="next">Next</h2>
    ${
      next === null
        ? html`<p class="nothing">Nothing is planned</p>`
        : keyed(
            `${next.cued_at} ${next.song.id}`,
            html`<div class="next-song">
              ${coverView(artUrl(next.song.art))}
              <div>
                <p class="row-title" dir="auto">${next.song.title || next.song.text}</p>
                <p class="row-artist" dir="auto">${next.song.artist}</p>
                ${next.is_request ? html`<p class="row-note">Requested by a listener</p>` : nothing}
              </div>
              <p class="row-time">${timeView(next.played_at, nowMs)}</p>
            </div>`
          )
    }
  </section>`
}

/** The songs before the current one, newest first. */
export function historyView({ song_history: history }: NowPlaying, nowMs: number) {
  return html`<section class="history" aria-labelledby="history">
    <h2 class="heading" id="history">Earlier</h2>
    ${
      history.length === 0
        ? html`<p class="nothing">Nothing yet</p>`
        : keyed(
            history[0]?.sh_id,
            html`<ol class="rows">
              ${history.map(
                ({ played_at: playedAt, song }) =>
                  html`<li class="row">
                    <p class="row-time">${timeView(playedAt, nowMs)}</p>
                    <p class="row-title" dir="auto">${song.title || song.text}</p>
                    <p class="row-artist" dir="auto">${song.artist}</p>
                  </li>`
              )}
            </ol>`
          )
    }
  </section>`
}

const timeView = (seconds: number, nowMs: number) =>
  html`<time datetime=${new Date(seconds * 1_000).toISOString()}>${formatTimeOfDay(seconds, nowMs)}</time>`
