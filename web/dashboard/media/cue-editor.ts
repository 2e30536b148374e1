import { html, nothing, type PropertyValues } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import {
  type CueName,
  cueHelp,
  cueNames,
  type Cues,
  cueStep,
  cueTitles,
  formatCuePosition,
  moveCue,
  resolveCuePosition
} from './cues.ts'
import { fieldProblemView } from './field-problem.ts'
import { waveformSeconds, type WaveformPixels } from './waveform-columns.ts'
import { drawWaveform, loadWaveform } from './waveform.ts'

/** Dispatched when the operator changed a cue point; `detail` are all of them. */
export const cuesChangedEvent = 'cuewire-cues-changed'
/** Dispatched to play the file; `detail` is the position in seconds. Bubbles. */
const playFromEvent = 'cuewire-play-from'

/** The waveform of a file with handles for its cue points, and the numbers beside it. */
export class CueEditor extends LightElement {
  static override properties = reactiveProperties<CueEditor>(
    'waveformPath',
    'cues',
    'seconds',
    'playhead',
    'canEdit',
    'problemOf',
    'waveform',
    'problem'
  )
  /** The path of the waveform in the API. */
  declare waveformPath: string
  declare cues: Cues
  /** The length of the file by its record; 0: unknown. */
  declare seconds: number
  /** Where the file is playing; null if it is not. */
  playhead: number | null = null
  canEdit = false
  /** The problem of a cue point that was not saved; '' for none. */
  problemOf: (name: CueName) => string = () => ''
  waveform: WaveformPixels | null = null
  problem = ''
  #aborter = new AbortController()
  readonly #resizes = new ResizeObserver(() => this.#draw())
  readonly #colorScheme = matchMedia('(prefers-color-scheme: dark)')

  override connectedCallback(): void {
    super.connectedCallback()
    this.#colorScheme.addEventListener('change', this.#draw)
    if (this.hasUpdated && this.waveform === null) void this.#load()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#colorScheme.removeEventListener('change', this.#draw)
    this.#resizes.disconnect()
    this.#aborter.abort()
  }

  /** The decoder knows the length more precisely than the record, which has whole seconds. */
  get #duration(): number {
    return this.waveform === null ? this.seconds : waveformSeconds(this.waveform)
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('waveformPath')) void this.#load()
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('waveform')) return
    const canvas = this.querySelector('canvas')
    if (canvas !== null) this.#resizes.observe(canvas)
    this.#draw()
  }

  protected override render() {
    return html`<div class="cue-editor">
      ${this.waveform === null ? this.#statusView() : this.#waveformView()}
      <div class="cue-numbers">${cueNames.map(name => this.#numberView(name))}</div>
      <div class="button-row">
        ${buttonView('Play from the start', () => this.#playFrom(resolveCuePosition('cue_in', this.cues, this.#duration)))}
        ${buttonView('Play the end', () =>
          this.#playFrom(Math.max(0, resolveCuePosition('cross_start_next', this.cues, this.#duration) - 5))
        )}
      </div>
    </div>`
  }

  #statusView() {
    if (this.problem !== '') return html`<p class="quiet">${this.problem}</p>`
    return html`<p class="waveform-frame quiet" aria-busy="true" role="status">
      The waveform is being made…
    </p>`
  }

  #waveformView() {
    return html`<div class="waveform-frame">
      <canvas class="waveform" role="img" aria-label="Waveform" @click=${this.#onClick}></canvas>
      ${
        this.playhead === null
          ? nothing
          : html`<span class="playhead" .style=${`left: ${this.#percentOf(this.playhead)}%`}></span>`
      }
      ${cueNames.map(name => this.#handleView(name))}
    </div>`
  }

  #handleView(name: CueName) {
    const position = resolveCuePosition(name, this.cues, this.#duration)
    return html`<span
      class="cue-handle"
      role="slider"
      tabindex=${this.canEdit ? 0 : -1}
      data-cue=${name}
      ?data-unset=${this.cues[name] === null}
      aria-label=${cueTitles[name]}
      aria-disabled=${!this.canEdit}
      aria-valuemin="0"
      aria-valuemax=${this.#duration.toFixed(1)}
      aria-valuenow=${position.toFixed(1)}
      aria-valuetext=${`${formatCuePosition(position)}${this.cues[name] === null ? ', not set' : ''}`}
      .style=${`left: ${this.#percentOf(position)}%`}
      @keydown=${(event: KeyboardEvent) => this.#onKey(event, name)}
      @pointerdown=${(event: PointerEvent) => this.#drag(event, name)}
    ></span>`
  }

  #numberView(name: CueName) {
    const problem = this.problemOf(name)
    return html`<label title=${cueHelp[name]}
      >${cueTitles[name]}
      <input
        class="field"
        type="number"
        inputmode="decimal"
        min="0"
        step="0.001"
        placeholder="not set"
        aria-invalid=${problem !== ''}
        ?disabled=${!this.canEdit}
        .value=${this.cues[name] === null ? '' : String(this.cues[name])}
        @change=${({ target }: Event) => {
          if (target instanceof HTMLInputElement)
            this.#change({ ...this.cues, [name]: target.value === '' ? null : Number(target.value) })
        }}
      />${fieldProblemView(problem)}</label
    >`
  }

  #percentOf(seconds: number): number {
    return this.#duration === 0 ? 0 : Math.max(0, Math.min(100, (100 * seconds) / this.#duration))
  }

  #onKey(event: KeyboardEvent, name: CueName): void {
    if (!this.canEdit) return
    const position = resolveCuePosition(name, this.cues, this.#duration)
    const step = cueStep(event.key, event.shiftKey)
    if (step !== null) this.#change(moveCue(name, position + step, this.cues, this.#duration))
    else if (event.key === 'Delete' || event.key === 'Backspace') this.#change({ ...this.cues, [name]: null })
    else if (event.key === 'Enter' || event.key === ' ') this.#playFrom(position)
    else return
    event.preventDefault()
  }

  #drag(event: PointerEvent, name: CueName): void {
    const handle = event.currentTarget
    const frame = this.querySelector('canvas')
    if (!this.canEdit || event.button !== 0 || !(handle instanceof HTMLElement) || frame === null) return
    event.preventDefault()
    handle.focus()
    handle.setPointerCapture(event.pointerId)
    const dragging = new AbortController()
    const { signal } = dragging
    const move = ({ clientX }: PointerEvent) => {
      this.#change(moveCue(name, this.#secondsAt(clientX, frame), this.cues, this.#duration))
    }
    handle.addEventListener('pointermove', move, { signal })
    for (const end of ['pointerup', 'pointercancel', 'lostpointercapture'])
      handle.addEventListener(end, () => dragging.abort(), { signal })
  }

  readonly #onClick = (event: MouseEvent) => {
    if (event.currentTarget instanceof HTMLElement)
      this.#playFrom(this.#secondsAt(event.clientX, event.currentTarget))
  }

  #secondsAt(clientX: number, frame: HTMLElement): number {
    const { left, width } = frame.getBoundingClientRect()
    return width === 0 ? 0 : ((clientX - left) / width) * this.#duration
  }

  #playFrom(seconds: number): void {
    this.dispatchEvent(new CustomEvent(playFromEvent, { detail: seconds, bubbles: true }))
  }

  #change(cues: Cues): void {
    this.cues = cues
    this.dispatchEvent(new CustomEvent(cuesChangedEvent, { detail: cues }))
  }

  readonly #draw = () => {
    const canvas = this.querySelector('canvas')
    if (canvas !== null && this.waveform !== null) drawWaveform(canvas, this.waveform)
  }

  async #load(): Promise<void> {
    this.#aborter.abort()
    this.#aborter = new AbortController()
    const { signal } = this.#aborter
    this.waveform = null
    this.problem = ''
    try {
      const waveform = await loadWaveform(this.waveformPath, signal)
      if (!signal.aborted) this.waveform = waveform
    } catch (error) {
      if (!signal.aborted) this.problem = toApiRequestError(error).message
    }
  }
}
