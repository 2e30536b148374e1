import { html, nothing } from 'lit'

import { type ChoicesOptions, choicesView } from '../forms/choices-view.ts'

/** The permissions of a role, as a start. */
export interface PermissionPreset {
  readonly name: string
  readonly permissions: readonly string[]
}

export interface PermissionChoicesOptions extends ChoicesOptions {
  readonly presets: readonly PermissionPreset[]
}

/** A checkbox for each permission, and a list of roles that checks those of a role. */
export function permissionChoicesView({ presets, ...options }: PermissionChoicesOptions) {
  const { id, isDisabled, onChange } = options
  const fill = ({ target: list }: Event) => {
    if (!(list instanceof HTMLSelectElement)) return
    const preset = presets[list.selectedIndex - 1]
    list.selectedIndex = 0
    if (preset === undefined) return
    onChange(options.options.map(({ value }) => value).filter(value => preset.permissions.includes(value)))
  }
  return html`${
    presets.length === 0
      ? nothing
      : html`<label class="preset" for="${id}-preset">As the role</label>
          <select class="field" id="${id}-preset" ?disabled=${isDisabled} @change=${fill}>
            <option>Choose a role…</option>
            ${presets.map(({ name }) => html`<option>${name}</option>`)}
          </select>`
  }
  ${choicesView(options)}`
}
