import { html, nothing, svg } from 'lit'

import { type AudioPlayer, isSoundActive, type SoundState } from '../elements/audio-player.ts'
import { iconView, playButtonView } from '../elements/play-button.ts'
import type { PlayableStream } from '../elements/streams.ts'

export interface PlayerControls {
  readonly streams: readonly PlayableStream[]
  /** The address of the selected stream; empty for the default one. */
  readonly selected: string
  readonly isOnline: boolean
  readonly audio: AudioPlayer
  readonly play: () => void
  readonly select: (url: string) => void
}

/** The play button, the choice of streams and the volume. */
export function playerControlsView(controls: PlayerControls) {
  const { streams, isOnline, audio, play } = controls
  const { sound } = audio
  const hasStream = streams.length > 0
  const isUsable = isSoundActive(sound) || (hasStream && isOnline)
  return html`<div class="controls">
    ${playButtonView({ sound, hasStream, isOnline, play, stop: () => audio.stop() })}
    <div class="sound">
      <p class="sound-text" role="status">${isUsable ? soundText[sound] : ''}</p>
      ${streams.length > 1 ? streamsView(controls) : html`<p class="stream">${streams[0]?.label ?? (isSoundActive(sound) ? '' : 'No stream')}</p>`}
    </div>
    ${isUsable ? volumeView(audio) : nothing}
  </div>`
}

function streamsView({ streams, selected, select }: PlayerControls) {
  const change = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement) select(target.value)
  }
  return html`<select class="streams" aria-label="Stream" @change=${change}>
    ${streams.map(({ url, label }) => html`<option value=${url} ?selected=${url === selected}>${label}</option>`)}
  </select>`
}

const volumeIcon = iconView(
  svg`<path d="M4 9.5v5h3.5l4.5 4V5.5l-4.5 4z" /><path d="M15.5 9a4 4 0 0 1 0 6M18 6.5a7.5 7.5 0 0 1 0 11" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" />`
)

function volumeView(audio: AudioPlayer) {
  const change = ({ target }: Event) => {
    if (!(target instanceof HTMLInputElement)) return
    audio.setVolume(target.valueAsNumber)
    saveVolume(target.value)
  }
  return html`<label class="loud"
    >${volumeIcon}
    <input
      class="volume"
      type="range"
      min="0"
      max="1"
      step="0.05"
      aria-label="Volume"
      .value=${String(audio.volume)}
      @input=${change}
    />
  </label>`
}

const soundText: Readonly<Record<SoundState, string>> = {
  silent: 'Listen',
  starting: 'Connecting',
  playing: 'Listening',
  retrying: 'The stream does not respond, trying again',
  missing: 'This station has no stream',
  forbidden: 'Reload the page to hear this stream'
}

const volumeKey = 'cuewire-volume'

/** The volume of the last visit, from 0 to 1; 1 if it is not stored. */
export function loadVolume(): number {
  try {
    const volume = Number(localStorage.getItem(volumeKey) ?? 1)
    return volume >= 0 && volume <= 1 ? volume : 1
  } catch {
    // The browser blocks storage.
    return 1
  }
}

function saveVolume(volume: string): void {
  try {
    localStorage.setItem(volumeKey, volume)
  } catch {
    // The next visit starts at full volume.
  }
}
