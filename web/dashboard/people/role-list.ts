import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'

import { callAction } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { Role } from '../api/responses.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatCount } from '../ui/text.ts'
import { closePeopleForm, openPeopleForm } from './people-address.ts'

const intervalMs = 20_000

/** The roles, and what they allow. */
export class RoleList extends LightElement {
  static override properties = reactiveProperties<RoleList>('item')
  /** `role-2`: the role in the form; `role-new`: a new one. */
  declare item: string

  readonly #actions = openActionRunner(this)
  readonly #roles = pollResource(this, { path: () => 'api/admin/roles', intervalMs })
  readonly #permissions = pollResource(this, {
    path: () => 'api/admin/permissions',
    intervalMs: 600_000
  })
  readonly #stations = pollResource(this, { path: () => 'api/stations', intervalMs })

  protected override render() {
    const create = buttonView('New role', () => openPeopleForm('role-new'))
    return panelView(
      { id: 'roles', title: 'Roles', resource: this.#roles, actions: create },
      html`${(this.#roles.value ?? []).map(role => this.#roleView(role))} ${this.#formView()}`
    )
  }

  #roleView(role: Role) {
    const { name, permissions, users, is_builtin: isBuiltin } = role
    const texts = permissions.global.map(id => this.#describe(id))
    const own = permissions.station
    return html`<div class="line">
      <details>
        <summary>${name} <span class="quiet">${formatCount(users, 'user')}</span></summary>
        <ul>
          ${texts.map(text => html`<li>${text}</li>`)}
          ${own.map(
            ({ id, permissions: held }) =>
              html`<li>${this.#nameOf(id)}: ${held.map(each => this.#describe(each)).join(', ')}</li>`
          )}
        </ul>
      </details>
      ${
        isBuiltin
          ? nothing
          : html`${buttonView('Change', () => openPeopleForm(`role-${role.id}`), { style: 'link', label: `Change ${name}` })}
            ${buttonView('Delete', () => this.#delete(role), { style: 'link', label: `Delete ${name}` })}`
      }
    </div>`
  }

  #describe(id: string): string {
    const { global = [], station = [] } = this.#permissions.value ?? {}
    return [...global, ...station].find(each => each.id === id)?.name ?? id
  }

  #nameOf(stationId: number): string {
    return this.#stations.value?.find(({ id }) => id === stationId)?.name ?? `Station ${stationId}`
  }

  #formView() {
    const [roles, stations, permissions] = [this.#roles.value, this.#stations.value, this.#permissions.value]
    if (roles === null || stations === null || permissions === null) return nothing
    const edited = roles.find(({ id }) => `role-${id}` === this.item) ?? null
    if (edited?.is_builtin ?? this.item !== 'role-new') return nothing
    const close = (isSaved: boolean) => {
      closePeopleForm()
      if (isSaved) void this.#roles.refresh()
    }
    return keyed(
      this.item,
      html`<role-form
        .edited=${edited}
        .roles=${roles}
        .stations=${stations}
        .permissions=${permissions}
        .close=${close}
      ></role-form>`
    )
  }

  async #delete({ id, name }: Role): Promise<void> {
    await this.#actions.run(
      'delete',
      () => callAction('DELETE', `api/admin/role/${id}`, { refresh: this.#roles.refresh }),
      { title: 'Delete the role?', text: name, verb: 'Delete' }
    )
  }
}
