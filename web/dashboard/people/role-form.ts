import { html } from 'lit'
import * as v from 'valibot'

import { type FieldError, toApiError } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import { confirmOverwrite } from '../forms/confirm-overwrite.ts'
import { isSame } from '../forms/form-edits.ts'
import { type ApiRecord, selectBody } from '../forms/form-values.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { focusProblem, labeledField, readForm } from '../ui/labeled-field.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import { presetsOf, type Role, roleSchema, type Station } from './grants.ts'
import { permissionChoices } from './permission-choices.ts'
import { type StationGrant, stationGrantsView } from './station-grants.ts'

const permissionSchema = v.object({ id: v.string(), name: v.string() })

/** All permissions, and what they allow, `api/admin/permissions`. */
export const permissionsSchema = v.object({
  global: v.array(permissionSchema),
  station: v.array(permissionSchema)
})
type Permissions = v.InferOutput<typeof permissionsSchema>

const titles: Readonly<Record<string, string>> = { name: 'Name', permissions: 'Permissions' }

/** Saves what was edited of a role. */
async function saveRole({ id, name, permissions }: Role, edited: ApiRecord): Promise<void> {
  const record = { name, permissions }
  const body = selectBody(record, edited)
  const path = `api/admin/role/${id}`
  await confirmOverwrite({
    body,
    record,
    load: () => callApi(roleSchema, path, { isSave: true }),
    describe: names => names.map(each => titles[each] ?? each)
  })
  await callApi(v.unknown(), path, { method: 'PUT', body })
}

const toOptions = (permissions: Permissions['global']) =>
  permissions.map(({ id, name }) => ({ value: id, label: name }))

// The order in which permissions are chosen is no change.
const sorted = (names: readonly string[]) => names.toSorted()
const sortedGrant = ({ station, permissions }: StationGrant) => ({
  station,
  permissions: sorted(permissions)
})

/** The form of a role: its permissions for all stations, and for single ones. */
export class RoleForm extends LightElement {
  static override properties = reactiveProperties<RoleForm>(
    'edited',
    'roles',
    'stations',
    'permissions',
    'global',
    'grants',
    'problems'
  )
  /** Null: a new role. */
  declare edited: Role | null
  /** The roles that a new one may start as. */
  declare roles: readonly Role[]
  declare stations: readonly Station[]
  declare permissions: Permissions
  /** Called after the role was saved, and when the operator cancels. */
  declare close: (isSaved: boolean) => void
  global: readonly string[] = []
  grants: readonly StationGrant[] = []
  problems: readonly FieldError[] = []
  readonly #actions = openActionRunner(this)
  /** The role as it was when the form was opened. */
  #start: Role | null = null
  #isSaved = false

  constructor() {
    super()
    guardChanges(this, () => !this.#isSaved && this.#hasChanges)
  }

  get #hasChanges(): boolean {
    const { global, station } = this.#start?.permissions ?? { global: [], station: [] }
    const stored = station.map(({ id, permissions }) => ({ station: id, permissions }))
    const startName = this.#start?.name ?? ''
    const name = this.querySelector<HTMLInputElement>('input[name=name]')?.value.trim() ?? startName
    return (
      name !== startName ||
      !isSame(sorted(this.global), sorted(global)) ||
      !isSame(this.grants.map(sortedGrant), stored.map(sortedGrant))
    )
  }

  protected override willUpdate(): void {
    // What is chosen stays while the roles are read again.
    if (this.hasUpdated) return
    this.#start = this.edited
    const { global, station } = this.edited?.permissions ?? { global: [], station: [] }
    this.global = global
    this.grants = station.map(({ id, permissions }) => ({ station: id, permissions }))
  }

  protected override render() {
    const { problems } = this
    const presets = presetsOf(this.roles)
    const isDisabled = this.#actions.inFlight !== null
    return html`<form class="account-form" @submit=${(event: Event) => this.#submit(event)}>
      ${labeledField('role', { name: 'name', label: 'Name', value: this.edited?.name ?? '', isRequired: true, problems })}
      <fieldset class="checkboxes">
        <legend>Users with the role may</legend>
        ${permissionChoices({
          id: 'role-global',
          options: toOptions(this.permissions.global),
          chosen: this.global,
          presets,
          isDisabled,
          onChange: global => (this.global = global)
        })}
      </fieldset>
      <fieldset class="checkboxes">
        <legend>For single stations they also may</legend>
        ${stationGrantsView({
          id: 'role-stations',
          grants: this.grants,
          stations: this.stations,
          permissions: toOptions(this.permissions.station),
          presets,
          isDisabled,
          onChange: grants => (this.grants = grants)
        })}
      </fieldset>
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Save</button>
        ${buttonView('Cancel', () => this.close(false))}
      </div>
    </form>`
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault()
    const form = this.querySelector('form')
    if (form === null) return
    const { name } = readForm(form)
    const station = this.grants.map(grant => ({ id: grant.station, permissions: grant.permissions }))
    const body = { name, permissions: { global: this.global, station } }
    const start = this.#start
    this.problems = []
    let isSaved = false
    await this.#actions.run('save', async () => {
      try {
        if (start === null) await callApi(v.unknown(), 'api/admin/roles', { method: 'POST', body })
        else await saveRole(start, body)
        isSaved = true
        return 'Role saved.'
      } catch (error) {
        this.problems = toApiError(error).fieldErrors.filter(({ field }) => field === 'name')
        if (this.problems.length === 0) throw error
        void this.updateComplete.then(() => focusProblem(this))
        return ''
      }
    })
    // Its notice must be dispatched before it is removed.
    if (!isSaved) return
    this.#isSaved = true
    this.close(true)
  }
}
