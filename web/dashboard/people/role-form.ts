import { html } from 'lit'

import { callApi } from '../api/call-api.ts'
import type { ListPermissionsAnswer, Role } from '../api/responses.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { rolePresetsOf, type NamedStation } from './grants.ts'
import { permissionChoicesView } from './permission-choices.ts'
import { stationGrantsView } from './station-grants.ts'

const fields = [
  { name: 'name', label: 'Name' },
  { name: 'permissions', label: 'Permissions' }
]

type Edited = Pick<Role, 'name' | 'permissions'>

/** What the form edits. The order in which permissions are chosen is no change. */
const valuesOf = ({ name, permissions }: Edited): Edited => ({ name, permissions: sorted(permissions) })

const sorted = ({ global, station }: Role['permissions']): Role['permissions'] => ({
  global: global.toSorted(),
  station: station.map(({ id, permissions }) => ({ id, permissions: permissions.toSorted() }))
})

const newRole: Edited = { name: '', permissions: { global: [], station: [] } }

const toOptions = (permissions: ListPermissionsAnswer['global']) =>
  permissions.map(({ id, name }) => ({ value: id, label: name }))

/** The form of a role: its permissions for all stations, and for single ones. */
export class RoleForm extends LightElement {
  static override properties = reactiveProperties<RoleForm>('edited', 'roles', 'stations', 'permissions')
  /** Null: a new role. */
  declare edited: Role | null
  /** The roles that a new one may start as. */
  declare roles: readonly Role[]
  declare stations: readonly NamedStation[]
  declare permissions: ListPermissionsAnswer
  /** Called after the role was saved, and when the operator cancels. */
  declare close: (isSaved: boolean) => void
  readonly #form = openForm(this, {
    start: () => valuesOf(this.edited ?? newRole),
    fields: () => fields
  })

  protected override render() {
    const { global, station } = this.#form.values.permissions
    const presets = rolePresetsOf(this.roles)
    const isDisabled = this.#form.isBusy
    const problem = this.#form.problemOf('permissions')
    return html`<form class="account-form" @submit=${() => this.#save()}>
      ${labeledFieldView(this.#form, { name: 'name', isRequired: true })}
      <fieldset class="checkboxes">
        <legend>Users with the role may</legend>
        ${permissionChoicesView({
          id: 'role-global',
          options: toOptions(this.permissions.global),
          chosen: global,
          presets,
          isDisabled,
          onChange: chosen => this.#setPermissions({ global: [...chosen], station })
        })}
      </fieldset>
      <fieldset class="checkboxes">
        <legend>For single stations they also may</legend>
        ${stationGrantsView({
          id: 'role-stations',
          grants: station.map(({ id, permissions }) => ({ station: id, permissions })),
          stations: this.stations,
          permissions: toOptions(this.permissions.station),
          presets,
          isDisabled,
          onChange: grants =>
            this.#setPermissions({
              global,
              station: grants.map(grant => ({ id: grant.station, permissions: [...grant.permissions] }))
            })
        })}
      </fieldset>
      <p class="trouble" role="alert" ?hidden=${problem === ''}>${problem}</p>
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Save</button>
        ${buttonView('Cancel', () => this.close(false))}
      </div>
    </form>`
  }

  #setPermissions(permissions: Role['permissions']): void {
    this.#form.set('permissions', sorted(permissions))
  }

  async #save(): Promise<void> {
    const { edited } = this
    const path = `api/admin/role/${edited?.id ?? 0}` as const
    const load = async () => valuesOf(await callApi('GET', path, { isSave: true }))
    const isSaved = await this.#form.submit(
      async () => {
        if (edited === null) await callApi('POST', 'api/admin/roles', { body: this.#form.values })
        else await callApi('PUT', path, { body: this.#form.changes })
        return 'Role saved.'
      },
      edited === null ? undefined : load
    )
    if (isSaved) this.close(true)
  }
}
