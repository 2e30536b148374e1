import { html, svg } from 'lit'

import { isActive, type SoundState } from './audio-player.ts'

export const iconView = (shape: ReturnType<typeof svg>) =>
  html`<svg class="icon" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">${shape}</svg>`

const playIcon = iconView(
  svg`<path d="M8 5.2c0-.9 1-1.5 1.8-1l10 6.3c.8.5.8 1.5 0 2l-10 6.3c-.8.5-1.8 0-1.8-1z" transform="translate(-1 .5)" />`
)
const stopIcon = iconView(svg`<rect x="6" y="6" width="12" height="12" rx="2" />`)

export interface PlayControls {
  readonly sound: SoundState
  /** Whether the stream can be started. It can always be stopped. */
  readonly canStart: boolean
  readonly play: () => void
  readonly stop: () => void
}

/** The button that starts and stops the stream. */
export function playButtonView({ sound, canStart, play, stop }: PlayControls) {
  const isOn = isActive(sound)
  return html`<button
    class="play"
    part="play"
    type="button"
    data-sound=${sound}
    aria-label=${isOn ? 'Stop' : sound === 'failed' ? 'Listen: the stream did not respond' : 'Listen'}
    ?disabled=${!isOn && !canStart}
    @click=${isOn ? stop : play}
  >
    ${isOn ? stopIcon : playIcon}
  </button>`
}
