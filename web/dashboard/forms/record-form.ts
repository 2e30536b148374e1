import { html, nothing } from 'lit'

import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { fieldView } from './field-view.ts'
import { openForm } from './form-controller.ts'
import type { FormField } from './form-field.ts'
import {
  type ApiRecord,
  type FormValues,
  initialFormValues,
  isSecretField,
  toRequestBody
} from './form-values.ts'

/** Returns the fields to show. `read` returns the value of a field; undefined if it has none yet. */
export type FieldSelection = (read: (name: string) => unknown) => readonly FormField[]

let forms = 0

/** A form for one record. */
export class RecordForm extends LightElement {
  static override properties = reactiveProperties<RecordForm>(
    'select',
    'record',
    'isNew',
    'isReadOnly',
    'saveLabel'
  )
  declare select: FieldSelection
  /** The record with whose values the form starts; null: the defaults. */
  declare record: ApiRecord | null
  /** Whether a new record is created, as a copy of `record` if there is one. */
  declare isNew: boolean
  /** Whether the operator may only read the record. */
  declare isReadOnly: boolean
  declare saveLabel: string
  /** Stores the body. A form of an unchanged record sends nothing and calls it not at all. */
  declare save: (body: Readonly<Record<string, unknown>>) => Promise<void>
  /** Reads the record again, so that what someone else has changed is not overwritten without a question. */
  declare load: (() => Promise<ApiRecord>) | null
  /** Called by the button Cancel and by Escape; without it there is no such button. */
  declare cancel: (() => void) | null

  readonly form = openForm<FormValues>(this, {
    start: () => initialFormValues(this.#fields, this.record),
    fields: () => this.#fields,
    showsProblem: true
  })
  readonly #id = `form-${(forms += 1)}`

  constructor() {
    super()
    this.record = null
    this.isNew = true
    this.isReadOnly = false
    this.saveLabel = 'Save'
    this.load = null
    this.cancel = null
    this.addEventListener('keydown', event => this.#onKey(event))
  }

  get #fields(): readonly FormField[] {
    const { edited } = this.form
    return this.select(name => (name in edited ? edited[name] : this.record?.[name]))
  }

  protected override render() {
    const fields = this.#fields
    const { values, problem, isBusy, isGone } = this.form
    return html`<form class="form" novalidate @submit=${() => this.#submit()}>
      <p class="trouble" role="alert">${problem}</p>
      ${Array.from(new Set(fields.map(({ group }) => group)), group => {
        const views = fields
          .filter(field => field.group === group)
          .map(field => this.#fieldView(field, values[field.name]))
        if (group === '') return views
        return html`<details class="form-group">
          <summary>${group}</summary>
          ${views}
        </details>`
      })}
      <div class="dialog-buttons form-buttons">
        ${this.cancel === null ? nothing : buttonView('Cancel', this.cancel)}
        ${
          this.isReadOnly
            ? nothing
            : html`<button
                type="submit"
                class="button"
                data-kind="strong"
                aria-busy=${isBusy}
                ?disabled=${isGone}
              >
                ${isBusy ? 'Saving…' : this.saveLabel}
              </button>`
        }
      </div>
    </form>`
  }

  #fieldView(field: FormField, value: unknown) {
    return fieldView({
      field,
      id: `${this.#id}-${field.name}`,
      value,
      problem: this.form.problemOf(field.name),
      isDisabled: this.isReadOnly || (field.isFixed && !this.isNew),
      isStored: isSecretField(field) && !this.isNew,
      onChange: next => this.form.set(field.name, next)
    })
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    this.querySelector('form')?.requestSubmit()
  }

  async #submit(): Promise<void> {
    if (this.isReadOnly || this.form.isGone) return
    const fields = this.#fields
    const { load } = this
    const body = toRequestBody(
      fields,
      this.form.values,
      this.isNew ? null : initialFormValues(fields, this.record)
    )
    await this.form.submit(
      async () => {
        await this.save(body)
        return ''
      },
      load === null ? undefined : async () => initialFormValues(fields, await load())
    )
  }
}
