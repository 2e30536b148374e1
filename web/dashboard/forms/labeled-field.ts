import { html, nothing } from 'lit'

/** The part of a form that its text fields use. */
interface TextForm<Name extends string> {
  readonly id: string
  readonly values: Readonly<Record<Name, string>>
  readonly labelOf: (name: Name) => string
  readonly problemOf: (name: Name) => string
  readonly set: (name: Name, value: string) => void
}

interface LabeledFieldOptions<Name extends string> {
  readonly name: Name
  readonly type?: 'text' | 'email' | 'password'
  readonly autocomplete?: string
  readonly help?: string
  readonly isRequired?: boolean
}

/** A text field with its label, its help and its problem. A text is trimmed, a password is not. */
export function labeledFieldView<Name extends string>(
  form: TextForm<NoInfer<Name>>,
  { name, type = 'text', autocomplete = 'off', help = '', isRequired = false }: LabeledFieldOptions<Name>
) {
  const id = `${form.id}-${name}`
  const problem = form.problemOf(name)
  const edit = ({ target }: Event) => {
    if (target instanceof HTMLInputElement)
      form.set(name, type === 'password' ? target.value : target.value.trim())
  }
  return html`<div class="labeled-field">
    <label for=${id}>${form.labelOf(name)}</label>
    ${help === '' ? nothing : html`<p class="quiet" id=${`${id}-help`}>${help}</p>`}
    <input
      id=${id}
      name=${name}
      class="field"
      type=${type}
      autocomplete=${autocomplete}
      spellcheck="false"
      autocapitalize="none"
      .value=${form.values[name]}
      ?required=${isRequired}
      aria-invalid=${problem !== ''}
      aria-describedby=${`${help === '' ? '' : `${id}-help `}${id}-problem`}
      @input=${edit}
    />
    <p class="trouble" id=${`${id}-problem`} role="alert">${problem}</p>
  </div>`
}
