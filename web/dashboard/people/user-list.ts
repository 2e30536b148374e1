import { html, nothing } from 'lit'

import { callAction, callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { User } from '../api/responses.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, chipView, tableView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatAge } from '../ui/text.ts'
import { grantsView, formatStationNames, sortIds } from './grants.ts'
import { closePeopleForm, openPeopleForm } from './people-address.ts'

/** What the form of a user edits; the password is not known. */
const valuesOf = ({ name, email, roles, stations }: Pick<User, 'name' | 'email' | 'roles' | 'stations'>) => ({
  name,
  email,
  new_password: '',
  roles: sortIds(roles.map(({ id }) => id)),
  stations: sortIds(stations)
})

const nobody = { name: '', email: '', roles: [], stations: [] }

const fields = [
  { name: 'name', label: 'Name' },
  { name: 'email', label: 'Email address' },
  { name: 'new_password', label: 'New password (optional)' },
  { name: 'roles', label: 'Roles' },
  { name: 'stations', label: 'Stations' }
]

const intervalMs = 20_000

/** The users, and the form with which one is changed. */
export class UserList extends LightElement {
  static override properties = reactiveProperties<UserList>('item')
  /** `user-3`: the user in the form. */
  declare item: string

  readonly #actions = openActionRunner(this)
  readonly #users = pollResource(this, { path: () => 'api/admin/users', intervalMs })
  readonly #roles = pollResource(this, { path: () => 'api/admin/roles', intervalMs })
  readonly #stations = pollResource(this, { path: () => 'api/stations', intervalMs })

  readonly #form = openForm(this, {
    start: () => valuesOf(this.#edited ?? nobody),
    fields: () => fields,
    actions: this.#actions
  })

  /** The user in the form, as it was when the form was opened. */
  #edited: User | null = null

  protected override willUpdate(): void {
    if (`user-${this.#edited?.id}` === this.item) return
    this.#form.reset()
    this.#edited = this.#users.value?.find(({ id }) => `user-${id}` === this.item) ?? null
  }

  protected override render() {
    const users = this.#users.value ?? []
    if (this.#users.value?.length === 0) return html`<first-account></first-account>`
    return panelView(
      { id: 'users', title: 'Users', resource: this.#users },
      html`<div class="scroll">
          ${tableView(
            [
              'Person',
              ['Roles', 'wide'],
              ['Stations', 'wide'],
              ['Last sign-in', 'wide'],
              ['', 'row-actions']
            ],
            users.map(user => this.#rowView(user))
          )}
        </div>
        ${this.#edited === null ? nothing : this.#formView(this.#edited)}`
    )
  }

  #rowView(user: User) {
    const { id, email, name, roles, stations, last_sign_in_at: lastSignInAt, is_me: isMe } = user
    const roleNames = roles.map(role => role.name).join(', ') || 'None'
    return html`<tr>
      <th scope="row" class="row-title">
        ${name || email} ${isMe ? chipView({ text: 'You', tone: 'neutral' }) : nothing}
        ${name === '' ? nothing : html`<br /><span class="quiet">${email}</span>`}
        <p class="narrow quiet">${roleNames}</p>
      </th>
      <td class="wide">${roleNames}</td>
      <td class="wide">${formatStationNames(stations, this.#stations.value ?? [])}</td>
      <td class="wide">${lastSignInAt === 0 ? 'Never' : formatAge(lastSignInAt)}</td>
      <td class="row-actions">
        ${buttonView('Change', () => openPeopleForm(`user-${id}`), { style: 'link', label: `Change ${email}` })}
        ${buttonView('Remove', () => this.#remove(user), { style: 'link', label: `Remove ${email}` })}
      </td>
    </tr>`
  }

  #formView(user: User) {
    const [roles, stations] = [this.#roles.value, this.#stations.value]
    if (roles === null || stations === null) return nothing
    return html`<form class="account-form" @submit=${() => this.#save(user)}>
      <h3>${user.email}</h3>
      ${labeledFieldView(this.#form, { name: 'name' })}
      ${labeledFieldView(this.#form, { name: 'email', type: 'email', isRequired: true })}
      ${labeledFieldView(this.#form, {
        name: 'new_password',
        type: 'password',
        autocomplete: 'new-password',
        help: 'At least 10 characters. The user is signed out everywhere. Empty: the password stays.'
      })}
      ${grantsView(this.#form, roles, stations, user.stations)}
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Save</button>
        ${buttonView('Cancel', closePeopleForm)}
      </div>
    </form>`
  }

  async #save({ id }: User): Promise<void> {
    const path = `api/admin/user/${id}` as const
    const body = this.#form.changes
    const isSaved = await this.#form.submit(
      () => callAction('PUT', path, { body, refresh: this.#users.refresh }),
      async () => valuesOf(await callApi('GET', path, { isSave: true }))
    )
    if (isSaved) closePeopleForm()
  }

  async #remove({ id, email }: User): Promise<void> {
    await this.#actions.run(
      'remove',
      () => callAction('DELETE', `api/admin/user/${id}`, { refresh: this.#users.refresh }),
      {
        title: 'Remove the user?',
        text: `${email} is signed out everywhere at once, and their own API keys end.`,
        verb: 'Remove'
      }
    )
  }
}
