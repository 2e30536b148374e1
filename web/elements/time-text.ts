import { html, nothing } from 'lit'

import type { Progress } from '../client/interface.ts'

/** A length as players write it: `3:05`, `1:02:09`. */
export function lengthText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const tail = String(rest).padStart(2, '0')
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`
}

/** The same in words, to be heard: `3 minutes 5 seconds`. */
export function spokenLength(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const parts = [
    [Math.floor(seconds / 3_600), 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second']
  ] as const
  const said = parts.flatMap(([count, unit]) =>
    count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`]
  )
  return said.join(' ') || '0 seconds'
}

/** A time of day where the visitor is, in the visitor's way; with the day where it is not today's. */
export function timeOfDay(unixSeconds: number, nowMs: number = Date.now()): string {
  const at = new Date(unixSeconds * 1_000)
  const isToday = at.toDateString() === new Date(nowMs).toDateString()
  return at.toLocaleTimeString(undefined, {
    hour: 'numeric',
    minute: '2-digit',
    ...(isToday ? {} : { weekday: 'short' })
  })
}

/*
 * The style is set as a property: a strict policy forbids the attribute.
 */

/**
 * The bar of a song and its times; only the time where the length is not known, an empty bar where nothing
 * is.
 */
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
