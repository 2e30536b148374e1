import { html } from 'lit'
import * as v from 'valibot'

import { toApiError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import type { PermissionPreset } from './permission-choices.ts'

export const roleSchema = v.object({
  id: v.number(),
  name: v.string(),
  is_builtin: v.boolean(),
  users: v.number(),
  permissions: v.object({
    global: v.array(v.string()),
    station: v.array(v.object({ id: v.number(), permissions: v.array(v.string()) }))
  })
})
export const rolesSchema = v.array(roleSchema)
export type Role = v.InferOutput<typeof roleSchema>

/** What each role allows, as a start for other lists of permissions. */
export const presetsOf = (roles: readonly Role[]): PermissionPreset[] =>
  roles.map(({ name, permissions }) => ({ name, permissions: permissions.global }))

/** The presets of all roles; none if the key may not read the roles. */
export async function loadPresets(): Promise<PermissionPreset[]> {
  try {
    return presetsOf(await callApi(rolesSchema, 'api/admin/roles'))
  } catch (error) {
    if (toApiError(error).status === 403) return []
    throw error
  }
}

export const stationsSchema = v.array(v.object({ id: v.number(), name: v.string() }))
export type Station = v.InferOutput<typeof stationsSchema>[number]

/** Names the stations to which roles are limited; `All` without a limit. */
export function nameStations(ids: readonly number[], stations: readonly Station[]): string {
  if (ids.length === 0) return 'All'
  return ids.map(id => stations.find(each => each.id === id)?.name ?? `#${id}`).join(', ')
}

interface Checkbox {
  readonly value: string | number
  readonly label: string
  readonly isChecked: boolean
}

/** A group of checkboxes with one name. */
export const checkboxes = (title: string, name: string, boxes: readonly Checkbox[], help = '') =>
  html`<fieldset class="checkboxes">
    <legend>${title}</legend>
    ${help === '' ? '' : html`<p class="quiet">${help}</p>`}
    ${boxes.map(
      ({ value, label, isChecked }) =>
        html`<label
          ><input type="checkbox" name=${name} value=${value} .defaultChecked=${isChecked} /> ${label}</label
        >`
    )}
  </fieldset>`

/** The choice of roles and stations of a person. */
export const grantsView = (
  roles: readonly Role[],
  stations: readonly Station[],
  { roleIds, stationIds }: { readonly roleIds: readonly number[]; readonly stationIds: readonly number[] }
) => html`
  ${checkboxes(
    'Roles',
    'roles',
    roles.map(({ id, name }) => ({ value: id, label: name, isChecked: roleIds.includes(id) }))
  )}
  ${checkboxes(
    'Stations',
    'stations',
    [
      ...stations.map(({ id, name }) => ({ value: id, label: name, isChecked: stationIds.includes(id) })),
      // A limit to a deleted station remains one: without it, the roles would be valid for all stations.
      ...stationIds
        .filter(id => !stations.some(station => station.id === id))
        .map(id => ({ value: id, label: `Station ${id}, which does not exist`, isChecked: true }))
    ],
    'The roles are limited to these stations. With none, they are valid for all stations, also new ones.'
  )}
`

/** The checked values of a group. */
export const checkedIn = (form: HTMLFormElement, name: string): string[] =>
  new FormData(form).getAll(name).map(String)
