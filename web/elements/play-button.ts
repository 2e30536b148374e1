import { html, nothing, svg } from 'lit'

import { isSoundActive, type SoundState } from './audio-player.ts'

export const iconView = (shape: ReturnType<typeof svg>) =>
  html`<svg class="icon" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">${shape}</svg>`

const playIcon = iconView(
  svg`<path d="M8 5.2c0-.9 1-1.5 1.8-1l10 6.3c.8.5.8 1.5 0 2l-10 6.3c-.8.5-1.8 0-1.8-1z" transform="translate(-1 .5)" />`
)
const stopIcon = iconView(svg`<rect x="6" y="6" width="12" height="12" rx="2" />`)

const listenLabels: Readonly<Partial<Record<SoundState, string>>> = {
  missing: 'Listen: the station has no stream'
}

export interface PlayControls {
  readonly sound: SoundState
  /** Whether there is a stream; otherwise there is no button. */
  readonly hasStream: boolean
  /** Whether the station is on air. What plays can always be stopped. */
  readonly isOnline: boolean
  readonly play: () => void
  readonly stop: () => void
}

/** The button that starts and stops the stream. */
export function playButtonView({ sound, hasStream, isOnline, play, stop }: PlayControls) {
  const isOn = isSoundActive(sound)
  if (!isOn && !hasStream) return nothing
  return html`<button
    class="play"
    part="play"
    type="button"
    data-sound=${sound}
    aria-label=${isOn ? 'Stop' : (listenLabels[sound] ?? 'Listen')}
    ?disabled=${!isOn && !isOnline}
    @click=${isOn ? stop : play}
  >
    ${isOn ? stopIcon : playIcon}
  </button>`
}
