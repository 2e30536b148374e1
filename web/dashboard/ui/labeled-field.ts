import { html, nothing } from 'lit'

import { describeProblem, type FieldError } from '../api/api-error.ts'

interface LabeledFieldOptions {
  /** The id, and the name of the field in the body of a request. */
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password'
  readonly autocomplete?: string
  readonly value?: string
  readonly help?: string
  readonly isRequired?: boolean
  readonly minLength?: number
  readonly problems?: readonly FieldError[]
}

/** A text field with its label, its help and its problem. `prefix` makes ids unique in the page. */
export function labeledField(
  prefix: string,
  { name, label, type = 'text', autocomplete, value, help = '', ...options }: LabeledFieldOptions
) {
  const { isRequired = false, minLength, problems = [] } = options
  const id = `${prefix}-${name}`
  const problem = problems.find(({ field }) => field === name)
  const text = problem === undefined ? '' : describeProblem(label.replace(/ \(.*\)$/, ''), problem)
  return html`<div class="labeled-field">
    <label for=${id}>${label}</label>
    ${help === '' ? nothing : html`<p class="quiet" id=${`${id}-help`}>${help}</p>`}
    <input
      id=${id}
      name=${name}
      class="field"
      type=${type}
      autocomplete=${autocomplete ?? 'off'}
      spellcheck="false"
      autocapitalize="none"
      .defaultValue=${value ?? ''}
      ?required=${isRequired}
      minlength=${minLength ?? nothing}
      aria-invalid=${text !== ''}
      aria-describedby=${`${help === '' ? '' : `${id}-help `}${id}-problem`}
    />
    <p class="trouble" id=${`${id}-problem`} role="alert">${text}</p>
  </div>`
}

/** The texts of a form by name, without blanks around them except in passwords. */
export function readForm(form: HTMLFormElement): Record<string, string> {
  const entries = [...new FormData(form)].map(([name, value]) => {
    const text = typeof value === 'string' ? value : ''
    return [name, /password/.test(name) ? text : text.trim()]
  })
  return Object.fromEntries(entries)
}

/**
 * Whether a form differs from how it was opened. The current password does not count, since browsers fill it
 * in by themselves.
 */
export function isEdited(form: HTMLFormElement | null): boolean {
  return Array.from(form?.elements ?? []).some(field => {
    if (field instanceof HTMLSelectElement)
      return Array.from(field.options).some(each => each.selected !== each.defaultSelected)
    if (!(field instanceof HTMLInputElement)) return false
    if (field.type === 'checkbox') return field.checked !== field.defaultChecked
    return field.autocomplete !== 'current-password' && field.value !== field.defaultValue
  })
}

/** Puts the focus on the first field with a problem. */
export function focusProblem(root: ParentNode): void {
  root.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
}
