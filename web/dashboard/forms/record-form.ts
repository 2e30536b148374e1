import { html, nothing, type PropertyValues } from 'lit'

import { describeProblem, toApiError } from '../api/api-error.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import { fieldView } from './field-view.ts'
import type { FormField } from './form-field.ts'
import {
  type ApiRecord,
  findField,
  type FormValues,
  initialValues,
  isSame,
  isSecret,
  toBody
} from './form-values.ts'

/** Returns the fields to show. `read` returns the value of a field; undefined if it has none yet. */
export type FieldSelection = (read: (name: string) => unknown) => readonly FormField[]

let forms = 0

/**
 * A form for one record. It keeps what is typed until it is saved, whatever is read meanwhile. Problems
 * that the server reports are shown at their fields, and the first one gets the focus.
 */
export class RecordForm extends LightElement {
  static override properties = reactiveProperties<RecordForm>(
    'select',
    'record',
    'isNew',
    'isReadOnly',
    'saveLabel',
    'edits',
    'problems',
    'problem',
    'isGone',
    'isBusy'
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
  /** Called by the button Cancel and by Escape; without it there is no such button. */
  declare cancel: (() => void) | null

  edits: FormValues = {}
  problems: ReadonlyMap<string, string> = new Map()
  problem = ''
  isBusy = false
  /** Whether the record was deleted meanwhile: nothing can be saved. */
  isGone = false
  readonly #id = `form-${(forms += 1)}`

  constructor() {
    super()
    this.record = null
    this.isNew = true
    this.isReadOnly = false
    this.saveLabel = 'Save'
    this.cancel = null
    guardChanges(this, () => this.hasChanges)
    this.addEventListener('keydown', event => this.#onKey(event))
  }

  /** Whether the form has changes that were not saved. */
  get hasChanges(): boolean {
    const start = this.#start(this.#fields)
    return this.#fields.some(({ name }) => name in this.edits && !isSame(this.edits[name], start[name]))
  }

  get #fields(): readonly FormField[] {
    return this.select(name => (name in this.edits ? this.edits[name] : this.record?.[name]))
  }

  #start(fields: readonly FormField[]): FormValues {
    return initialValues(fields, this.record)
  }

  protected override render() {
    const fields = this.#fields
    const start = this.#start(fields)
    return html`<form class="form" novalidate @submit=${(event: Event) => this.#submit(event)}>
      <p class="trouble" role="alert">${this.problem}</p>
      ${Array.from(new Set(fields.map(({ group }) => group)), group => {
        const views = fields
          .filter(field => field.group === group)
          .map(field => this.#fieldView(field, start))
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
                aria-busy=${this.isBusy}
                ?disabled=${this.isGone}
              >
                ${this.isBusy ? 'Saving…' : this.saveLabel}
              </button>`
        }
      </div>
    </form>`
  }

  #fieldView(field: FormField, start: FormValues) {
    return fieldView({
      field,
      id: `${this.#id}-${field.name}`,
      value: field.name in this.edits ? this.edits[field.name] : start[field.name],
      problem: this.problems.get(field.name) ?? '',
      isDisabled: this.isReadOnly || (field.isFixed && !this.isNew),
      isStored: isSecret(field) && !this.isNew,
      onChange: value => this.#change(field.name, value)
    })
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (!changed.has('problems')) return
    const first = this.querySelector<HTMLElement>('[aria-invalid=true]')
    const group = first?.closest('details')
    if (group) group.open = true
    first?.focus()
  }

  #change(name: string, value: unknown): void {
    this.edits = { ...this.edits, [name]: value }
  }

  #onKey(event: KeyboardEvent): void {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    this.querySelector('form')?.requestSubmit()
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault()
    if (this.isBusy || this.isReadOnly || this.isGone) return
    const fields = this.#fields
    const start = this.#start(fields)
    const body = toBody(fields, { ...start, ...this.edits }, this.isNew ? null : start)
    this.isBusy = true
    this.problem = ''
    this.problems = new Map()
    try {
      await this.save(body)
      this.edits = {}
    } catch (error) {
      this.#showProblems(fields, error)
    } finally {
      this.isBusy = false
    }
  }

  #showProblems(fields: readonly FormField[], error: unknown): void {
    const { message, fieldErrors, status } = toApiError(error)
    this.isGone = status === 404
    const problems = new Map<string, string>()
    const others: string[] = []
    for (const problem of fieldErrors) {
      const field = findField(fields, problem.field)
      if (field === undefined) others.push(problem.message)
      else if (!problems.has(field.name)) problems.set(field.name, describeProblem(field.label, problem))
    }
    this.problems = problems
    this.problem = fieldErrors.length === 0 ? message : others.join(' ')
  }
}
