import { html } from 'lit'
import { live } from 'lit/directives/live.js'

import type { FieldOption } from './form-field.ts'

export interface ChoicesOptions {
  /** Unique in the page. */
  readonly id: string
  readonly options: readonly FieldOption[]
  readonly chosen: readonly string[]
  readonly isDisabled: boolean
  readonly onChange: (chosen: readonly string[]) => void
}

/** A checkbox for each option. `onChange` gets the chosen ones in the order of the options. */
export function choicesView({ id, options, chosen, isDisabled, onChange }: ChoicesOptions) {
  const toggle = (name: string, isOn: boolean) =>
    onChange(options.flatMap(({ value }) => ((value === name ? isOn : chosen.includes(value)) ? value : [])))
  return html`<div class="form-choices">
    ${options.map(
      ({ value, label }) =>
        html`<label
          ><input
            id="${id}-${value}"
            type="checkbox"
            ?disabled=${isDisabled}
            .checked=${live(chosen.includes(value))}
            @change=${({ target }: Event) => {
              if (target instanceof HTMLInputElement) toggle(value, target.checked)
            }}
          />${label}</label
        >`
    )}
  </div>`
}
