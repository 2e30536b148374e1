import { html, nothing } from 'lit'

import { playIcon, stopIcon, volumeIcon } from '../elements/icons.ts'
import { isOn, type Listening } from '../elements/listening.ts'
import type { Stream } from '../elements/streams.ts'

export interface Controls {
  readonly streams: readonly Stream[]
  readonly chosen: string
  readonly isOnline: boolean
  readonly listening: Listening
  readonly play: () => void
  readonly stop: () => void
  readonly choose: (url: string) => void
  readonly turn: (volume: number) => void
}

/** What there is to listen with: a button, the streams to choose from, and how loud. */
export function controlsView(controls: Controls) {
  const { streams, isOnline, listening } = controls
  const { sound } = listening
  const isSounding = isOn(sound)
  // What sounds can always be stopped.
  const isUseless = !isSounding && (streams.length === 0 || !isOnline)
  return html`<div class="controls">
    <button
      class="play"
      type="button"
      data-sound=${sound}
      aria-label=${isSounding ? 'Stop' : 'Listen'}
      ?disabled=${isUseless}
      @click=${isSounding ? controls.stop : controls.play}
    >
      ${isSounding ? stopIcon : playIcon}
    </button>
    <div class="sound">
      <p class="sound-text" role="status">${isUseless ? '' : soundText[sound]}</p>
      ${streams.length > 1 ? choiceView(controls) : html`<p class="stream">${streams[0]?.label ?? (isSounding ? '' : 'No stream')}</p>`}
    </div>
    ${isUseless ? nothing : volumeView(controls)}
  </div>`
}

function choiceView({ streams, chosen, choose }: Controls) {
  const take = ({ target }: Event) => {
    if (target instanceof HTMLSelectElement) choose(target.value)
  }
  return html`<select class="streams" aria-label="Stream" @change=${take}>
    ${streams.map(({ url, label }) => html`<option value=${url} ?selected=${url === chosen}>${label}</option>`)}
  </select>`
}

function volumeView({ listening, turn }: Controls) {
  const take = ({ target }: Event) => {
    if (target instanceof HTMLInputElement) turn(target.valueAsNumber)
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
      .value=${String(listening.volume)}
      @input=${take}
    />
  </label>`
}

const soundText = {
  silent: 'Listen',
  starting: 'Tuning in',
  playing: 'Listening',
  failed: 'The stream does not answer',
  forbidden: 'Reload the page to hear this stream'
} as const
