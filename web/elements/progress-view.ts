import { html, nothing } from 'lit'

import type { Progress } from '../client/interface.ts'
import { lengthText, spokenLength } from './time-text.ts'

/*
 * The style is set as a property: a strict policy forbids the attribute.
 */

/** The bar of a song and its times; only the time where the length is not known, an empty bar where nothing is. */
export function progressView(progress: Progress | null) {
  if (progress !== null && progress.durationMs === null)
    return html`<div class="progress" part="progress">
      <p class="times" part="times"><span>on for ${lengthText(progress.elapsedMs)}</span></p>
    </div>`
  const { elapsedMs = 0, durationMs } = progress ?? {}
  const fraction = durationMs ? elapsedMs / durationMs : 0
  const text = durationMs ? `${spokenLength(elapsedMs)} of ${spokenLength(durationMs)}` : 'unknown'
  return html`<div class="progress" part="progress">
    <div
      class="bar"
      part="bar"
      role="progressbar"
      aria-label="Song"
      aria-valuemin="0"
      aria-valuemax="100"
      aria-valuenow=${Math.round(fraction * 100)}
      aria-valuetext=${text}
    >
      <div class="bar-fill" part="bar-fill" .style=${`transform: scaleX(${fraction})`}></div>
    </div>
    <p class="times" part="times" aria-hidden="true">
      ${
        durationMs
          ? html`<span>${lengthText(elapsedMs)}</span><span>${lengthText(durationMs)}</span>`
          : nothing
      }
    </p>
  </div>`
}
