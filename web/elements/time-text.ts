import { html, nothing } from 'lit'

import type { Progress } from '../client/interface.ts'

const splitDuration = (ms: number) => {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  return [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60] as const
}

/** A duration for display: `3:05`, `1:02:09`. */
export function formatDuration(ms: number): string {
  const [hours, minutes, seconds] = splitDuration(ms)
  const [paddedMinutes, paddedSeconds] = [minutes, seconds].map(each => String(each).padStart(2, '0'))
  return hours === 0 ? `${minutes}:${paddedSeconds}` : `${hours}:${paddedMinutes}:${paddedSeconds}`
}

/** A duration for screen readers: `3 minutes 5 seconds`. */
export function formatSpokenDuration(ms: number): string {
  const counts = splitDuration(ms)
  const words = ['hour', 'minute', 'second'].flatMap((unit, index) => {
    const count = counts[index] ?? 0
    return count === 0 ? [] : [`${count} ${unit}${count === 1 ? '' : 's'}`]
  })
  return words.join(' ') || '0 seconds'
}

/** A time of day in the zone and language of the visitor, with the weekday if it is not today. */
export function formatTimeOfDay(unixSeconds: number, nowMs: number = Date.now()): string {
  const at = new Date(unixSeconds * 1_000)
  const isToday = at.toDateString() === new Date(nowMs).toDateString()
  return at.toLocaleTimeString(undefined, {
    hour: 'numeric',
    minute: '2-digit',
    ...(isToday ? {} : { weekday: 'short' })
  })
}

/**
 * The progress bar and the times of a song. Only the elapsed time if the length is unknown, an empty bar if
 * the progress is. The style is a property, because a strict Content-Security-Policy forbids the attribute.
 */
export function progressBarView(progress: Progress | null) {
  if (progress !== null && progress.durationMs === null)
    return html`<div class="progress" part="progress">
      <p class="times" part="times"><span>on for ${formatDuration(progress.elapsedMs)}</span></p>
    </div>`
  const { elapsedMs = 0, durationMs } = progress ?? {}
  const fraction = durationMs ? elapsedMs / durationMs : 0
  const text = durationMs
    ? `${formatSpokenDuration(elapsedMs)} of ${formatSpokenDuration(durationMs)}`
    : 'unknown'
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
          ? html`<span>${formatDuration(elapsedMs)}</span><span>${formatDuration(durationMs)}</span>`
          : nothing
      }
    </p>
  </div>`
}
