import { html } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { Role, StationSummary } from '../api/responses.ts'
import { choicesView } from '../forms/choices-view.ts'
import type { PermissionPreset } from './permission-choices.ts'

/** What each role allows, as a start for other lists of permissions. */
export const rolePresetsOf = (roles: readonly Role[]): PermissionPreset[] =>
  roles.map(({ name, permissions }) => ({ name, permissions: permissions.global }))

/** The presets of all roles; none if the key may not read the roles. */
export async function loadRolePresets(): Promise<PermissionPreset[]> {
  try {
    return rolePresetsOf(await callApi('GET', 'api/admin/roles'))
  } catch (error) {
    if (toApiRequestError(error).status === 403) return []
    throw error
  }
}

export type NamedStation = Pick<StationSummary, 'id' | 'name'>

/** Names the stations to which roles are limited; `All` without a limit. */
export function formatStationNames(ids: readonly number[], stations: readonly NamedStation[]): string {
  if (ids.length === 0) return 'All'
  return ids.map(id => stations.find(each => each.id === id)?.name ?? `#${id}`).join(', ')
}

/** The part of a form that the choice of roles and stations uses. */
interface GrantsForm {
  readonly id: string
  readonly values: Readonly<Record<'roles' | 'stations', readonly number[]>>
  readonly labelOf: (name: string) => string
  readonly problemOf: (name: string) => string
  readonly set: (name: 'roles' | 'stations', ids: readonly number[]) => void
}

const ascending = (one: number, other: number) => one - other

/** The ids in an order that does not depend on when they were chosen. */
export const sortIds = (ids: readonly number[]): readonly number[] => ids.toSorted(ascending)

function checkboxes(
  form: GrantsForm,
  name: 'roles' | 'stations',
  choices: readonly NamedStation[],
  help = ''
) {
  return html`<fieldset class="checkboxes">
    <legend>${form.labelOf(name)}</legend>
    ${help === '' ? '' : html`<p class="quiet">${help}</p>`}
    ${choicesView({
      id: `${form.id}-${name}`,
      options: choices.map(({ id, name: label }) => ({ value: String(id), label })),
      chosen: form.values[name].map(String),
      isDisabled: false,
      onChange: chosen => form.set(name, sortIds(chosen.map(Number)))
    })}
    <p class="trouble" role="alert" ?hidden=${form.problemOf(name) === ''}>${form.problemOf(name)}</p>
  </fieldset>`
}

/** The choice of roles and stations of a person. */
export const grantsView = (
  form: GrantsForm,
  roles: readonly Role[],
  stations: readonly NamedStation[],
  stationIds: readonly number[] = []
) => html`
  ${checkboxes(form, 'roles', roles)}
  ${checkboxes(
    form,
    'stations',
    [
      ...stations,
      // A limit to a deleted station remains one: without it, the roles would be valid for all stations.
      ...stationIds
        .filter(id => !stations.some(station => station.id === id))
        .map(id => ({ id, name: `Station ${id}, which does not exist` }))
    ],
    'The roles are limited to these stations. With none, they are valid for all stations, also new ones.'
  )}
`
