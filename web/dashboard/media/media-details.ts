import { html, nothing, type PropertyValues } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { callAction, callApi, fileTimeoutMs } from '../api/call-api.ts'
import type { Playlist, StationFile } from '../api/responses.ts'
import type { FieldLabel } from '../forms/field-problems.ts'
import { openForm } from '../forms/form-controller.ts'
import { showNotice, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import type { cuesChangedEvent } from './cue-editor.ts'
import { type CueName, cueNames, type Cues } from './cues.ts'
import { coverProblem, describeFieldProblem, customFieldLabel, fieldProblemView } from './field-problem.ts'
import { mediaFieldTitles, tagNames, tagTitles } from './media-fields.ts'

/** Dispatched after a file was changed here; bubbles. */
export const mediaChangedEvent = 'cuewire-media-changed'
/** Dispatched to close the panel; bubbles. */
const closeDetailsEvent = 'cuewire-close-details'

const imageTypes = 'image/jpeg,image/png,image/webp,image/gif'

/** Tags, cover, playlists, custom fields and cue points of one file. */
export class MediaDetails extends StationElement {
  static override properties = reactiveProperties<MediaDetails>(
    'mediaId',
    'playlists',
    'canEdit',
    'playhead',
    'record',
    'problem',
    'isGone',
    'customNames'
  )
  declare mediaId: number
  playlists: readonly Playlist[] = []
  canEdit = false
  playhead: number | null = null
  /** As stored; null until it is loaded. */
  record: StationFile | null = null
  problem = ''
  /** Whether the file was deleted meanwhile. */
  isGone = false
  /** The names of the custom fields by short name; empty if they may not be read. */
  customNames: ReadonlyMap<string, string> = new Map()
  readonly #actions = openActionRunner(this)
  readonly #form = openForm<Partial<StationFile>>(this, {
    start: () => this.record ?? {},
    fields: () => this.#fields,
    describe: (_, problem) => describeFieldProblem(problem, this.customNames),
    actions: this.#actions
  })

  get #fields(): FieldLabel[] {
    const customNames = Object.keys(this.record?.custom_fields ?? {})
    return [
      ...Object.entries(mediaFieldTitles).map(([name, label]) => ({ name, label })),
      ...cueNames.map(name => ({ name: `extra_metadata.${name}`, label: name })),
      ...customNames.map(name => ({ name: `custom_fields.${name}`, label: name }))
    ]
  }

  /** Forgets changes that were not saved, such as those of a file that is deleted. */
  discardChanges(): void {
    this.#form.reset()
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('mediaId')) void this.#load()
  }

  protected override render() {
    const { record, problem } = this
    return html`<section class="panel media-details" aria-labelledby="media-details-title">
      <header class="panel-head">
        <h2 class="heading" id="media-details-title" tabindex="-1">${record?.path ?? 'File'}</h2>
        ${buttonView('×', () => this.#close(), { style: 'icon-button', label: 'Close the details' })}
      </header>
      ${problem === '' ? nothing : html`<p class="trouble" role="alert">${problem}</p>`}
      ${
        record === null
          ? problem === ''
            ? html`<p class="quiet" aria-busy="true">…</p>`
            : nothing
          : this.#formView({ ...record, ...this.#form.edited })
      }
    </section>`
  }

  #formView(draft: StationFile) {
    const { hasChanges, isBusy } = this.#form
    return html`<form class="media-form" @submit=${() => this.#save()}>
      <div class="media-art">
        <song-cover .address=${draft.art} .isPrivate=${true}></song-cover>
        ${this.canEdit ? this.#artButtonsView() : nothing}
      </div>
      ${tagNames.map(
        name =>
          html`<label
            >${tagTitles[name]}
            <input
              class="field"
              dir="auto"
              .value=${draft[name]}
              aria-invalid=${this.#form.problemOf(name) !== ''}
              ?disabled=${!this.canEdit}
              @input=${(event: InputEvent) => this.#form.set(name, valueOf(event))}
            />${fieldProblemView(this.#form.problemOf(name))}</label
          >`
      )}
      <details>
        <summary>Lyrics</summary>
        <textarea
          class="field"
          rows="8"
          dir="auto"
          aria-label="Lyrics"
          .value=${draft.lyrics}
          aria-invalid=${this.#form.problemOf('lyrics') !== ''}
          ?disabled=${!this.canEdit}
          @input=${(event: InputEvent) => this.#form.set('lyrics', valueOf(event))}
        ></textarea>
        ${fieldProblemView(this.#form.problemOf('lyrics'))}
      </details>
      <fieldset>
        <legend>Cue points</legend>
        <cue-editor
          .waveformPath=${`${this.path}/waveform/${draft.id}.json`}
          .cues=${draft.extra_metadata}
          .seconds=${draft.length}
          .playhead=${this.playhead}
          .canEdit=${this.canEdit}
          .problemOf=${(name: CueName) => this.#form.problemOf(`extra_metadata.${name}`)}
          @cuewire-cues-changed=${({ detail }: CustomEvent<Cues>) =>
            this.#form.set('extra_metadata', { ...draft.extra_metadata, ...detail })}
        ></cue-editor>
      </fieldset>
      ${this.#playlistsView(draft)} ${this.#customFieldsView(draft)}
      ${
        this.canEdit
          ? html`<div class="dialog-buttons">
              ${buttonView('Discard', () => this.#discard(), { isDisabled: !hasChanges })}
              <button
                type="submit"
                class="button"
                data-kind="strong"
                aria-busy=${isBusy}
                ?disabled=${!hasChanges || this.isGone}
              >
                Save
              </button>
            </div>`
          : nothing
      }
    </form>`
  }

  #artButtonsView() {
    return html`<div class="button-row">
      <label class="button upload-button"
        >Choose a cover<input
          class="visually-hidden"
          type="file"
          accept=${imageTypes}
          @change=${this.#onPickArt}
      /></label>
      ${buttonView('Remove the cover', () => this.#removeArt(), { style: 'link' })}
    </div>`
  }

  #playlistsView({ playlists }: StationFile) {
    const choices = this.playlists.filter(({ source }) => source === 'songs')
    if (choices.length === 0) return nothing
    return html`<fieldset>
      <legend>Playlists</legend>
      ${choices.map(
        ({ id, name }) =>
          html`<label class="choice"
            ><input
              type="checkbox"
              .checked=${playlists.includes(id)}
              ?disabled=${!this.canEdit}
              @change=${() =>
                this.#form.set(
                  'playlists',
                  playlists.includes(id)
                    ? playlists.filter(each => each !== id)
                    : [...playlists, id].toSorted((one, other) => one - other)
                )}
            />
            <span dir="auto">${name}</span></label
          >`
      )}
      ${fieldProblemView(this.#form.problemOf('playlists'))}
    </fieldset>`
  }

  #customFieldsView({ custom_fields: fields }: StationFile) {
    const names = Object.keys(fields)
    if (names.length === 0) return nothing
    return html`<fieldset>
      <legend>Custom fields</legend>
      ${names.map(
        name =>
          html`<label
            >${customFieldLabel(name, this.customNames)}
            <input
              class="field"
              dir="auto"
              aria-invalid=${this.#form.problemOf(`custom_fields.${name}`) !== ''}
              .value=${fields[name] ?? ''}
              ?disabled=${!this.canEdit}
              @input=${(event: InputEvent) =>
                this.#form.set('custom_fields', { ...fields, [name]: valueOf(event) })}
            />${fieldProblemView(this.#form.problemOf(`custom_fields.${name}`))}</label
          >`
      )}
    </fieldset>`
  }

  async #save(): Promise<void> {
    const path = `${this.path}/file/${this.mediaId}` as const
    const body = this.#form.changes
    await this.#form.submit(
      () => this.#change(() => callAction('PUT', path, { body })),
      () => callApi('GET', path, { isSave: true }).catch(this.#fail)
    )
  }

  /** After a 404, nothing can be saved, and the list has to be read again. */
  #noteGone(error: unknown): void {
    if (toApiRequestError(error).status !== 404) return
    this.isGone = true
    this.problem = 'The file is no longer in the library: someone has deleted it.'
    this.dispatchEvent(new Event(mediaChangedEvent, { bubbles: true }))
  }

  readonly #fail = (error: unknown): never => {
    this.#noteGone(error)
    throw error
  }

  #discard(): void {
    this.#form.reset()
    // Someone may have changed it meanwhile.
    void this.#load()
  }

  readonly #onPickArt = ({ target }: Event) => {
    if (!(target instanceof HTMLInputElement)) return
    const body = target.files?.[0]
    target.value = ''
    if (body === undefined) return
    if (!imageTypes.split(',').includes(body.type))
      return showNotice(this, { text: coverProblem, isError: true })
    void this.#actions.run('art', () =>
      this.#change(async () => {
        await callAction('POST', `${this.path}/art/${this.mediaId}`, { body, timeoutMs: fileTimeoutMs })
        return 'The cover was replaced.'
      })
    )
  }

  #removeArt(): Promise<void> {
    return this.#actions.run('art', () =>
      this.#change(() => callAction('DELETE', `${this.path}/art/${this.mediaId}`))
    )
  }

  /** Changes the file, then reads it again. */
  async #change(work: () => Promise<string>): Promise<string> {
    const message = await work().catch(this.#fail)
    await this.#load()
    this.dispatchEvent(new Event(mediaChangedEvent, { bubbles: true }))
    return message
  }

  #close(): void {
    this.dispatchEvent(new Event(closeDetailsEvent, { bubbles: true }))
  }

  async #load(): Promise<void> {
    const { mediaId } = this
    if (mediaId !== this.record?.id) {
      this.record = null
      this.#form.reset()
    }
    this.problem = ''
    this.isGone = false
    try {
      const record = await callApi('GET', `${this.path}/file/${mediaId}`)
      if (mediaId === this.mediaId) this.record = record
    } catch (error) {
      if (mediaId !== this.mediaId) return
      this.problem = toApiRequestError(error).message
      this.#noteGone(error)
    }
  }
}

const valueOf = ({ target }: Event): string =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target.value : ''

declare global {
  interface HTMLElementEventMap {
    [cuesChangedEvent]: CustomEvent<Cues>
  }
}
