import { html, nothing, type PropertyValues } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { requestApiFile } from '../api/call-api.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { mediaChangedEvent } from './media-details.ts'

/** A file to hear, from a position in seconds. */
export interface Preview {
  readonly mediaId: number
  readonly title: string
  /** The path of its content in the API. */
  readonly path: string
  readonly fromSeconds: number
}

/** Dispatched while a file plays; `detail` is the position in seconds, null after the end. Bubbles. */
const playheadEvent = 'cuewire-playhead'

/** Plays a file of the library. It is fetched with the key in a header, which `audio` cannot send. */
export class PreviewPlayer extends LightElement {
  static override properties = reactiveProperties<PreviewPlayer>('preview', 'blobUrl', 'problem')
  preview: Preview | null = null
  blobUrl = ''
  problem = ''
  #loadedPath = ''
  #aborter = new AbortController()

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.#release()
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('preview')) return
    const { preview } = this
    if (preview === null) this.#release()
    else if (preview.path === this.#loadedPath) this.#start()
    else void this.#load(preview)
  }

  protected override render() {
    const { preview, problem } = this
    if (preview === null) return nothing
    return html`<section class="preview" aria-label="Preview">
      <p class="preview-title" dir="auto">${preview.title}</p>
      ${
        problem === ''
          ? html`<audio
              controls
              src=${this.blobUrl || nothing}
              aria-busy=${this.blobUrl === ''}
              @loadedmetadata=${() => this.#start()}
              @timeupdate=${this.#onTime}
              @ended=${() => this.#report(null)}
              @error=${this.#onError}
            ></audio>`
          : html`<p class="trouble" role="alert">${problem}</p>`
      }
      ${buttonView('×', () => (this.preview = null), { style: 'icon-button', label: 'Close the preview' })}
    </section>`
  }

  get #audio(): HTMLAudioElement | null {
    return this.querySelector('audio')
  }

  #start(): void {
    const audio = this.#audio
    if (audio === null || audio.readyState === 0 || this.preview === null) return
    audio.currentTime = this.preview.fromSeconds
    // Refused without a gesture of the operator: the controls remain.
    audio.play().catch(() => {})
  }

  readonly #onTime = () => {
    const audio = this.#audio
    if (audio !== null) this.#report(audio.currentTime)
  }

  readonly #onError = () => {
    if (this.blobUrl !== '') this.problem = 'This browser cannot play the file.'
  }

  #report(seconds: number | null): void {
    this.dispatchEvent(new CustomEvent(playheadEvent, { detail: seconds, bubbles: true }))
  }

  async #load({ path }: Preview): Promise<void> {
    this.#release()
    this.#loadedPath = path
    this.#aborter = new AbortController()
    const { signal } = this.#aborter
    try {
      const blob = await (await requestApiFile(path, { signal })).blob()
      if (!signal.aborted) this.blobUrl = URL.createObjectURL(blob)
    } catch (error) {
      if (signal.aborted) return
      const { message, status } = toApiRequestError(error)
      this.problem = message
      // Someone may have deleted the file: the list is read again.
      if (status === 404) this.dispatchEvent(new Event(mediaChangedEvent, { bubbles: true }))
    }
  }

  #release(): void {
    this.#aborter.abort()
    if (this.blobUrl !== '') URL.revokeObjectURL(this.blobUrl)
    this.blobUrl = ''
    this.problem = ''
    this.#loadedPath = ''
    this.#report(null)
  }
}
