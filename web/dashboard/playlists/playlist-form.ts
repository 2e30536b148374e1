import { html, nothing, type PropertyValues } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { Playlist } from '../api/responses.ts'
import { loadBodySchema } from '../forms/body-schemas.ts'
import { fieldView } from '../forms/field-view.ts'
import { openForm } from '../forms/form-controller.ts'
import { type FormField, toFormFields } from '../forms/form-field.ts'
import { type FormValues, initialFormValues, toRequestBody } from '../forms/form-values.ts'
import { formatScheduleItem } from '../schedule/schedule-text.ts'
import { type SimulationBody, watchSimulation } from '../schedule/simulation.ts'
import { buttonView } from '../ui/controls.ts'
import { reactiveProperties, StationElement } from '../ui/light-element.ts'
import { stationLink } from '../ui/route.ts'
import { groupPlaylistFields, toFormRecord } from './playlist-fields.ts'

/** Dispatched when a playlist was saved; `detail` is its id. */
export const playlistSavedEvent = 'cuewire-playlist-saved'

/**
 * The settings of a playlist. While they are edited, the AutoDJ is simulated with them, and what it warns
 * about is shown beside them.
 */
export class PlaylistForm extends StationElement {
  static override properties = reactiveProperties<PlaylistForm>(
    'record',
    'otherNames',
    'canManage',
    'fields',
    'problem'
  )
  /** Null: a new playlist. */
  declare record: Playlist | null
  declare canManage: boolean
  declare close: () => void
  /** The names of the other playlists of the station. */
  otherNames: readonly string[] = []
  fields: readonly FormField[] | null = null
  /** Why there are no fields; '' if there are some. */
  problem = ''

  readonly #form = openForm<FormValues>(this, {
    start: () => this.#valuesOf(this.record),
    fields: () => this.fields ?? [],
    showsProblem: true
  })
  readonly #simulation = watchSimulation(
    this,
    () => this.path,
    () => this.#simulatedBody,
    () => this.refreshKey
  )

  override connectedCallback(): void {
    super.connectedCallback()
    void this.#loadFields()
  }

  async #loadFields(): Promise<void> {
    try {
      const fields = toFormFields(await loadBodySchema('post', '/api/station/{station_id}/playlists'))
      const options = groupPlaylistFields(fields, () => undefined).flatMap(group => group.fields)
      // The options are edited as a list.
      this.fields = fields.map(field => options.find(({ name }) => name === field.name) ?? field)
    } catch (error) {
      this.problem = toApiRequestError(error).message
    }
  }

  #valuesOf(record: Playlist | null): FormValues {
    return initialFormValues(this.fields ?? [], record && toFormRecord(record))
  }

  /** The body that saves the changes. */
  get #body(): Readonly<Record<string, unknown>> {
    const start = this.record && this.#valuesOf(this.record)
    const body = toRequestBody(this.fields ?? [], this.#form.values, start)
    const { backend_options: options } = body
    return Array.isArray(options) ? { ...body, backend_options: options.join(',') } : body
  }

  /** Two playlists may have one name, but are hard to tell apart. */
  get #hasTakenName(): boolean {
    const { name } = this.#form.values
    return typeof name === 'string' && this.otherNames.some(other => normalize(other) === normalize(name))
  }

  /** Only those who may save settings may simulate other ones than the stored ones. */
  get #simulatedBody(): SimulationBody | null {
    if (this.fields === null) return null
    return { days: 7, from: '', playlists: this.canManage ? [this.#simulatedSettings] : [] }
  }

  get #simulatedSettings(): object {
    if (this.record !== null) return { ...this.#body, id: this.record.id }
    return { ...this.#body, name: this.#form.values['name'] || 'New playlist' }
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('record')
    // Another playlist: the changes of this one were discarded.
    if (before && before.id !== this.record?.id) this.#form.reset()
  }

  protected override render() {
    if (this.fields === null) return html`<p class="trouble" role="alert">${this.problem}</p>`
    const { values, problem, isBusy, isGone } = this.#form
    const groups = groupPlaylistFields(this.fields, name => values[name])
    return html`<form class="form playlist-form" novalidate @submit=${() => this.#save()}>
      <p class="trouble" role="alert">${problem}</p>
      ${this.#notesView()}
      ${groups.map(
        ({ title, fields }, index) =>
          html`<fieldset class="playlist-group">
              <legend>${title}</legend>
              ${fields.map(field => this.#fieldView(field, values[field.name]))}
            </fieldset>
            ${index === 1 ? this.#scheduleView() : nothing}`
      )}
      <div class="dialog-buttons form-buttons">
        ${buttonView('Back', this.close)}
        ${
          this.canManage
            ? html`<button
                type="submit"
                class="button"
                data-kind="strong"
                aria-busy=${isBusy}
                ?disabled=${isGone}
              >
                ${isBusy ? 'Saving…' : this.record === null ? 'Create' : 'Save'}
              </button>`
            : nothing
        }
      </div>
    </form>`
  }

  #fieldView(field: FormField, value: unknown) {
    return fieldView({
      field,
      id: `playlist-${field.name}`,
      value,
      problem: this.#form.problemOf(field.name),
      isDisabled: !this.canManage,
      isStored: false,
      onChange: next => this.#form.set(field.name, next)
    })
  }

  /** What the simulation says about this playlist. */
  #notesView() {
    const { value, error, isRunning } = this.#simulation
    const own = [this.record?.id ?? -1, null]
    const notes = [...(value?.warnings ?? []), ...(value?.missed ?? [])].filter(({ playlist_id: id }) =>
      own.includes(id)
    )
    const totals = value?.playlists.find(({ playlist_id: id }) => id === own[0])
    return html`<div class="playlist-notes" aria-busy=${isRunning}>
      <p class="quiet" role="status">
        ${isRunning ? 'Simulating the coming week…' : totals ? describeTotals(totals) : ''}
      </p>
      ${error === null ? nothing : html`<p class="quiet">${error.message}</p>`}
      <ul class="simulation-notes">
        ${this.#hasTakenName ? html`<li data-code="same_name">Another playlist has this name.</li>` : nothing}
        ${notes.map(({ code, message }) => html`<li data-code=${code}>${message}</li>`)}
      </ul>
    </div>`
  }

  #scheduleView() {
    const items = this.record?.schedule_items ?? []
    return html`<fieldset class="playlist-group">
      <legend>When</legend>
      ${
        items.length === 0
          ? html`<p class="quiet">At any time.</p>`
          : items.map(item => html`<p>${formatScheduleItem(item)}</p>`)
      }
      <p><a href=${stationLink(String(this.station), 'schedule')}>Edit in the calendar</a></p>
    </fieldset>`
  }

  async #save(): Promise<void> {
    const { record } = this
    const body = this.#body
    const path = `${this.path}/playlist/${record?.id ?? 0}` as const
    let savedId = record?.id
    const load = async () => this.#valuesOf(await callApi('GET', path, { isSave: true }))
    const isSaved = await this.#form.submit(
      async () => {
        if (record === null) savedId = (await callApi('POST', `${this.path}/playlists`, { body })).id
        else await callApi('PUT', path, { body })
        return ''
      },
      record === null ? undefined : load
    )
    if (isSaved) this.dispatchEvent(new CustomEvent(playlistSavedEvent, { detail: savedId, bubbles: true }))
  }
}

const normalize = (name: string) => name.trim().toLowerCase()

const describeTotals = ({ plays, seconds }: { readonly plays: number; readonly seconds: number }): string =>
  `In the coming week it would play ${plays} times, ${(seconds / 3_600).toFixed(1)} hours in all.`
