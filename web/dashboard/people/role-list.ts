import { html, nothing } from 'lit'
import * as v from 'valibot'

import { type FieldError, toApiError } from '../api/api-error.ts'
import { callAction, callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { focusProblem, labeledField, readForm } from '../ui/labeled-field.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatCount } from '../ui/text.ts'
import { checkboxes, checkedIn, type Role, rolesSchema } from './grants.ts'

const permissionsSchema = v.object({ global: v.array(v.object({ id: v.string(), name: v.string() })) })

const intervalMs = 20_000

/** The roles, what they allow, and the form for one. */
export class RoleList extends LightElement {
  static override properties = reactiveProperties('edited', 'problems')
  /** The role in the form; `new` for a new one. */
  edited: Role | 'new' | null = null
  problems: readonly FieldError[] = []

  readonly #actions = openActionRunner(this)
  readonly #roles = pollResource(this, { schema: rolesSchema, path: () => 'api/admin/roles', intervalMs })
  readonly #permissions = pollResource(this, {
    schema: permissionsSchema,
    path: () => 'api/admin/permissions',
    intervalMs: 600_000
  })

  protected override render() {
    const create = buttonView('New role', () => (this.edited = 'new'))
    return panelView(
      { id: 'roles', title: 'Roles', resource: this.#roles, actions: create },
      html`${(this.#roles.value ?? []).map(role => this.#roleView(role))}
      ${this.edited === null ? nothing : this.#formView(this.edited)}`
    )
  }

  #roleView(role: Role) {
    const { name, permissions, users, is_builtin: isBuiltin } = role
    const texts = permissions.global.map(id => this.#describe(id))
    const own = permissions.station.length
    return html`<div class="line">
      <details>
        <summary>${name} <span class="quiet">${formatCount(users, 'user')}</span></summary>
        <ul>
          ${texts.map(text => html`<li>${text}</li>`)}
          ${own === 0 ? nothing : html`<li>More for ${formatCount(own, 'station')}</li>`}
        </ul>
      </details>
      ${
        isBuiltin
          ? nothing
          : html`${buttonView('Change', () => (this.edited = role), { style: 'link', label: `Change ${name}` })}
            ${buttonView('Delete', () => this.#delete(role), { style: 'link', label: `Delete ${name}` })}`
      }
    </div>`
  }

  #describe(id: string): string {
    return this.#permissions.value?.global.find(each => each.id === id)?.name ?? id
  }

  #formView(edited: Role | 'new') {
    const { name, permissions } = edited === 'new' ? { name: '', permissions: { global: [] } } : edited
    const held: readonly string[] = permissions.global
    return html`<form class="account-form" @submit=${(event: Event) => this.#save(event, edited)}>
      ${labeledField('role', { name: 'name', label: 'Name', value: name, isRequired: true, problems: this.problems })}
      ${checkboxes(
        'Users with the role may',
        'global',
        (this.#permissions.value?.global ?? []).map(each => ({
          value: each.id,
          label: each.name,
          isChecked: held.includes(each.id)
        }))
      )}
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Save</button>
        ${buttonView('Cancel', () => (this.edited = null))}
      </div>
    </form>`
  }

  async #save(event: Event, edited: Role | 'new'): Promise<void> {
    event.preventDefault()
    const form = this.querySelector('form')
    if (form === null) return
    const { name } = readForm(form)
    const station = edited === 'new' ? [] : edited.permissions.station
    const body = { name, permissions: { global: checkedIn(form, 'global'), station } }
    this.problems = []
    await this.#actions.run('save', async () => {
      try {
        if (edited === 'new') await callApi(v.unknown(), 'api/admin/roles', { method: 'POST', body })
        else await callApi(v.unknown(), `api/admin/role/${edited.id}`, { method: 'PUT', body })
        this.edited = null
        await this.#roles.refresh()
        return 'Role saved.'
      } catch (error) {
        this.problems = toApiError(error).fieldErrors.filter(({ field }) => field === 'name')
        if (this.problems.length === 0) throw error
        void this.updateComplete.then(() => focusProblem(this))
        return ''
      }
    })
  }

  async #delete({ id, name }: Role): Promise<void> {
    await this.#actions.run(
      'delete',
      () => callAction(`api/admin/role/${id}`, { method: 'DELETE' }, this.#roles.refresh),
      { title: 'Delete the role?', text: name, verb: 'Delete' }
    )
  }
}
