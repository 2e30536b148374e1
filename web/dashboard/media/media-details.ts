import { html, nothing, type PropertyValues } from 'lit'

import { type FieldError, toApiError } from '../api/api-error.ts'
import { callAction, callApi } from '../api/call-api.ts'
import { confirmOverwrite } from '../forms/confirm-overwrite.ts'
import { notify, openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { focusProblem } from '../ui/labeled-field.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import type { cuesChangedEvent } from './cue-editor.ts'
import type { Cues } from './cues.ts'
import {
  coverProblem,
  describeFieldProblems,
  nameCustomField,
  problemsIn,
  problemView
} from './field-problem.ts'
import {
  fieldTitles,
  findChanges,
  type MediaPlaylist,
  type MediaRecord,
  mediaRecordSchema,
  tagNames,
  tagTitles
} from './media-record.ts'
import { requestFile } from './media-request.ts'

/** Dispatched after a file was changed here; bubbles. */
export const mediaChangedEvent = 'cuewire-media-changed'
/** Dispatched to close the panel; bubbles. */
export const closeDetailsEvent = 'cuewire-close-details'

const imageTypes = 'image/jpeg,image/png,image/webp,image/gif'

/** Tags, cover, playlists, custom fields and cue points of one file. */
export class MediaDetails extends StationElement {
  static override properties = reactiveProperties<MediaDetails>(
    'mediaId',
    'playlists',
    'canEdit',
    'playhead',
    'record',
    'draft',
    'problem',
    'problems',
    'isGone',
    'customNames'
  )
  declare mediaId: number
  playlists: readonly MediaPlaylist[] = []
  canEdit = false
  playhead: number | null = null
  /** As stored; null until it is loaded. */
  record: MediaRecord | null = null
  /** As in the form. */
  draft: MediaRecord | null = null
  problem = ''
  /** The problems of fields that were not saved, by their path. */
  problems: ReadonlyMap<string, string> = new Map()
  /** Whether the file was deleted meanwhile. */
  isGone = false
  /** The names of the custom fields by short name; empty if they may not be read. */
  customNames: ReadonlyMap<string, string> = new Map()
  readonly #actions = openActionRunner(this)

  constructor() {
    super()
    guardChanges(this, () => this.hasChanges)
  }

  /** Whether there are changes that were not saved. */
  get hasChanges(): boolean {
    const { record, draft } = this
    return record !== null && draft !== null && Object.keys(findChanges(record, draft)).length > 0
  }

  /** Forgets changes that were not saved, such as those of a file that is deleted. */
  discardChanges(): void {
    this.draft = this.record
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('mediaId')) void this.#load(true)
  }

  protected override render() {
    const { draft, problem } = this
    return html`<section class="panel media-details" aria-labelledby="media-details-title">
      <header class="panel-head">
        <h2 class="heading" id="media-details-title" tabindex="-1">${this.record?.path ?? 'File'}</h2>
        ${buttonView('×', () => this.#close(), { style: 'icon-button', label: 'Close the details' })}
      </header>
      ${problem === '' ? nothing : html`<p class="trouble" role="alert">${problem}</p>`}
      ${
        draft === null
          ? problem === ''
            ? html`<p class="quiet" aria-busy="true">…</p>`
            : nothing
          : this.#formView(draft)
      }
    </section>`
  }

  #formView(draft: MediaRecord) {
    return html`<form class="media-form" @submit=${this.#onSubmit}>
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
              aria-invalid=${this.problems.has(name)}
              ?disabled=${!this.canEdit}
              @input=${(event: InputEvent) => this.#edit({ [name]: valueOf(event) })}
            />${problemView(this.problems.get(name))}</label
          >`
      )}
      <details ?open=${this.problems.has('lyrics')}>
        <summary>Lyrics</summary>
        <textarea
          class="field"
          rows="8"
          dir="auto"
          aria-label="Lyrics"
          .value=${draft.lyrics}
          aria-invalid=${this.problems.has('lyrics')}
          ?disabled=${!this.canEdit}
          @input=${(event: InputEvent) => this.#edit({ lyrics: valueOf(event) })}
        ></textarea>
        ${problemView(this.problems.get('lyrics'))}
      </details>
      <fieldset>
        <legend>Cue points</legend>
        <cue-editor
          .waveformPath=${`${this.path}/waveform/${draft.id}.json`}
          .cues=${draft.extra_metadata}
          .seconds=${draft.length}
          .playhead=${this.playhead}
          .canEdit=${this.canEdit}
          .problems=${problemsIn('extra_metadata', this.problems)}
          @cuewire-cues-changed=${this.#onCues}
        ></cue-editor>
      </fieldset>
      ${this.#playlistsView(draft)} ${this.#customFieldsView(draft)}
      ${
        this.canEdit
          ? html`<div class="dialog-buttons">
              ${buttonView('Discard', () => this.#discard(), { isDisabled: !this.hasChanges })}
              <button
                type="submit"
                class="button"
                data-kind="strong"
                aria-busy=${this.#actions.inFlight === 'save'}
                ?disabled=${!this.hasChanges || this.isGone}
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

  #playlistsView({ playlists }: MediaRecord) {
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
                this.#edit({
                  playlists: playlists.includes(id)
                    ? playlists.filter(each => each !== id)
                    : [...playlists, id].toSorted((one, other) => one - other)
                })}
            />
            <span dir="auto">${name}</span></label
          >`
      )}
    </fieldset>`
  }

  #customFieldsView({ custom_fields: fields }: MediaRecord) {
    const names = Object.keys(fields)
    if (names.length === 0) return nothing
    return html`<fieldset>
      <legend>Custom fields</legend>
      ${names.map(
        name =>
          html`<label
            >${nameCustomField(name, this.customNames)}
            <input
              class="field"
              dir="auto"
              aria-invalid=${this.problems.has(`custom_fields.${name}`)}
              .value=${fields[name] ?? ''}
              ?disabled=${!this.canEdit}
              @input=${(event: InputEvent) =>
                this.#edit({ custom_fields: { ...fields, [name]: valueOf(event) } })}
            />${problemView(this.problems.get(`custom_fields.${name}`))}</label
          >`
      )}
    </fieldset>`
  }

  #edit(changes: Partial<MediaRecord>): void {
    if (this.draft !== null) this.draft = { ...this.draft, ...changes }
  }

  readonly #onCues = ({ detail }: CustomEvent<Cues>) => {
    if (this.draft !== null) this.#edit({ extra_metadata: { ...this.draft.extra_metadata, ...detail } })
  }

  readonly #onSubmit = (event: Event) => {
    event.preventDefault()
    void this.#actions.run('save', () => this.#save())
  }

  async #save(): Promise<string> {
    const { record, draft } = this
    if (record === null || draft === null) return ''
    const body = findChanges(record, draft)
    this.problems = new Map()
    try {
      const path = `${this.path}/file/${record.id}`
      return await this.#change(async () => {
        await confirmOverwrite({
          body,
          record,
          load: () => callApi(mediaRecordSchema, path, { isSave: true }),
          describe: names => names.map(name => fieldTitles[name] ?? name)
        })
        return callAction(path, { method: 'PUT', body })
      }, true)
    } catch (error) {
      if (!this.isGone) this.#showProblems(error)
      return ''
    }
  }

  /** After a 404, nothing can be saved, and the list has to be read again. */
  #noteGone(error: unknown): void {
    if (toApiError(error).status !== 404) return
    this.isGone = true
    this.problem = 'The file is no longer in the library: someone has deleted it.'
    this.dispatchEvent(new Event(mediaChangedEvent, { bubbles: true }))
  }

  /** Shows problems at their fields. Throws the error again if the form has none of the fields. */
  #showProblems(error: unknown): void {
    const { fieldErrors } = toApiError(error)
    const known = new Set(['lyrics', ...tagNames])
    const isShown = ({ field }: FieldError) =>
      known.has(field) || /^(?:extra_metadata|custom_fields)\./.test(field)
    if (fieldErrors.length === 0 || !fieldErrors.every(isShown)) throw error
    this.problems = describeFieldProblems(fieldErrors, this.customNames)
    void this.updateComplete.then(() => focusProblem(this))
  }

  #discard(): void {
    this.draft = this.record
    this.problems = new Map()
    // Someone may have changed it meanwhile.
    void this.#load(true)
  }

  readonly #onPickArt = ({ target }: Event) => {
    if (!(target instanceof HTMLInputElement)) return
    const body = target.files?.[0]
    target.value = ''
    if (body === undefined) return
    if (!imageTypes.split(',').includes(body.type)) return notify(this, { text: coverProblem, isError: true })
    void this.#actions.run('art', () =>
      this.#change(async () => {
        await requestFile(`${this.path}/art/${this.mediaId}`, { method: 'POST', body })
        return 'The cover was replaced.'
      }, false)
    )
  }

  #removeArt(): Promise<void> {
    return this.#actions.run('art', () =>
      this.#change(() => callAction(`${this.path}/art/${this.mediaId}`, { method: 'DELETE' }), false)
    )
  }

  /** Changes the file, then reads it again. */
  async #change(work: () => Promise<string>, replacesDraft: boolean): Promise<string> {
    const message = await work().catch((error: unknown) => {
      this.#noteGone(error)
      throw error
    })
    await this.#load(replacesDraft)
    this.dispatchEvent(new Event(mediaChangedEvent, { bubbles: true }))
    return message
  }

  #close(): void {
    this.dispatchEvent(new Event(closeDetailsEvent, { bubbles: true }))
  }

  async #load(replacesDraft: boolean): Promise<void> {
    const { mediaId } = this
    if (replacesDraft && mediaId !== this.record?.id) {
      this.record = null
      this.draft = null
      this.problems = new Map()
    }
    this.problem = ''
    this.isGone = false
    try {
      const record = await callApi(mediaRecordSchema, `${this.path}/file/${mediaId}`)
      if (mediaId !== this.mediaId) return
      this.record = record
      this.draft = replacesDraft || this.draft === null ? record : { ...this.draft, art: record.art }
    } catch (error) {
      if (mediaId !== this.mediaId) return
      this.problem = toApiError(error).message
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
