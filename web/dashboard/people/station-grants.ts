import { html } from 'lit'

import type { FieldOption } from '../forms/form-field.ts'
import { buttonView } from '../ui/controls.ts'
import { permissionChoicesView, type PermissionPreset } from './permission-choices.ts'

/** Permissions for one station. */
export interface StationGrant {
  readonly station: number
  readonly permissions: readonly string[]
}

interface StationGrantsOptions {
  /** Unique in the page. */
  readonly id: string
  readonly grants: readonly StationGrant[]
  readonly stations: readonly { readonly id: number; readonly name: string }[]
  readonly permissions: readonly FieldOption[]
  readonly presets: readonly PermissionPreset[]
  readonly isDisabled: boolean
  readonly onChange: (grants: readonly StationGrant[]) => void
}

/** Permissions for single stations: each station once, with its permissions. */
export function stationGrantsView(options: StationGrantsOptions) {
  const { id, grants, stations, isDisabled, onChange } = options
  const free = stations.filter(station => !grants.some(grant => grant.station === station.id))
  const add = ({ target: list }: Event) => {
    if (!(list instanceof HTMLSelectElement)) return
    const station = free[list.selectedIndex - 1]
    list.selectedIndex = 0
    if (station !== undefined) onChange([...grants, { station: station.id, permissions: [] }])
  }
  return html`${grants.map((grant, index) => grantView(options, grant, index))}
    <label class="preset" for="${id}-add">Add a station</label>
    <select class="field" id="${id}-add" ?disabled=${isDisabled || free.length === 0} @change=${add}>
      <option>Choose a station…</option>
      ${free.map(({ name }) => html`<option>${name}</option>`)}
    </select>`
}

function grantView(
  { id, grants, stations, permissions, presets, isDisabled, onChange }: StationGrantsOptions,
  grant: StationGrant,
  index: number
) {
  const name =
    stations.find(station => station.id === grant.station)?.name ??
    `Station ${grant.station}, which does not exist`
  return html`<fieldset class="grant">
    <legend>${name}</legend>
    ${permissionChoicesView({
      id: `${id}-${grant.station}`,
      options: permissions,
      chosen: grant.permissions,
      presets,
      isDisabled,
      onChange: chosen => onChange(grants.with(index, { ...grant, permissions: chosen }))
    })}
    ${buttonView(
      html`Remove<span class="visually-hidden"> ${name}</span>`,
      () => onChange(grants.toSpliced(index, 1)),
      { style: 'link', isDisabled }
    )}
  </fieldset>`
}
