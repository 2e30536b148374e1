import { html, nothing } from 'lit'
import { keyed } from 'lit/directives/keyed.js'
import * as v from 'valibot'

import { type FieldError, toApiError } from '../api/api-error.ts'
import { callAction, callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import { confirmOverwrite } from '../forms/confirm-overwrite.ts'
import { selectBody } from '../forms/form-values.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, chipView, tableView } from '../ui/controls.ts'
import { focusProblem, isEdited, labeledField, readForm } from '../ui/labeled-field.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { formatAge } from '../ui/text.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import { checkedIn, grantsView, nameStations, rolesSchema, stationsSchema } from './grants.ts'
import { closePeople, openPeople } from './people-address.ts'

const userSchema = v.object({
  id: v.number(),
  email: v.string(),
  name: v.string(),
  roles: v.array(v.object({ id: v.number(), name: v.string() })),
  stations: v.array(v.number()),
  last_sign_in_at: v.number(),
  is_me: v.boolean()
})
const usersSchema = v.array(userSchema)
type User = v.InferOutput<typeof userSchema>

/** What the form of a user edits, except for the password. */
const editedOf = ({ name, email, roles, stations }: User) => ({
  name,
  email,
  roles: roles.map(({ id }) => id).toSorted(ascending),
  stations: stations.toSorted(ascending)
})

const ascending = (one: number, other: number) => one - other
const titles: Readonly<Record<string, string>> = {
  name: 'Name',
  email: 'Email address',
  roles: 'Roles',
  stations: 'Stations'
}

const intervalMs = 20_000

/** The users, and the form with which one is changed. */
export class UserList extends LightElement {
  static override properties = reactiveProperties<UserList>('item', 'problems')
  /** `user-3`: the user in the form. */
  declare item: string
  problems: readonly FieldError[] = []

  readonly #actions = openActionRunner(this)
  readonly #users = pollResource(this, { schema: usersSchema, path: () => 'api/admin/users', intervalMs })
  readonly #roles = pollResource(this, { schema: rolesSchema, path: () => 'api/admin/roles', intervalMs })
  readonly #stations = pollResource(this, { schema: stationsSchema, path: () => 'api/stations', intervalMs })

  /** The user in the form, as it was when the form was opened. */
  #edited: User | null = null
  /** Whether the changes in the form were saved. */
  #isSaved = false

  constructor() {
    super()
    guardChanges(this, () => this.#edited !== null && !this.#isSaved && isEdited(this.querySelector('form')))
  }

  protected override willUpdate(): void {
    if (`user-${this.#edited?.id}` === this.item) return
    this.problems = []
    this.#isSaved = false
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
        ${
          // What was chosen for one user must not appear in the form of another.
          this.#edited === null ? nothing : keyed(this.#edited.id, this.#formView(this.#edited))
        }`
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
      <td class="wide">${nameStations(stations, this.#stations.value ?? [])}</td>
      <td class="wide">${lastSignInAt === 0 ? 'Never' : formatAge(lastSignInAt)}</td>
      <td class="row-actions">
        ${buttonView('Change', () => openPeople(`user-${id}`), { style: 'link', label: `Change ${email}` })}
        ${buttonView('Remove', () => this.#remove(user), { style: 'link', label: `Remove ${email}` })}
      </td>
    </tr>`
  }

  #formView(user: User) {
    const [roles, stations] = [this.#roles.value, this.#stations.value]
    if (roles === null || stations === null) return nothing
    const { problems } = this
    return html`<form class="account-form" @submit=${(event: Event) => this.#save(event, user)}>
      <h3>${user.email}</h3>
      ${labeledField('user', { name: 'name', label: 'Name', value: user.name, problems })}
      ${labeledField('user', {
        name: 'email',
        label: 'Email address',
        type: 'email',
        value: user.email,
        isRequired: true,
        problems
      })}
      ${labeledField('user', {
        name: 'new_password',
        label: 'New password (optional)',
        type: 'password',
        autocomplete: 'new-password',
        help: 'At least 10 characters. The user is signed out everywhere. Empty: the password stays.',
        problems
      })}
      ${grantsView(roles, stations, { roleIds: editedOf(user).roles, stationIds: user.stations })}
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Save</button>
        ${buttonView('Cancel', closePeople)}
      </div>
    </form>`
  }

  async #save(event: Event, user: User): Promise<void> {
    event.preventDefault()
    const form = this.querySelector('form')
    if (form === null) return
    const { name = '', email = '', new_password: password = '' } = readForm(form)
    const record = editedOf(user)
    const body = selectBody(record, {
      name,
      email,
      roles: checkedIn(form, 'roles').map(Number).toSorted(ascending),
      stations: checkedIn(form, 'stations').map(Number).toSorted(ascending)
    })
    const path = `api/admin/user/${user.id}`
    this.problems = []
    await this.#actions.run('save', async () => {
      try {
        await confirmOverwrite({
          body,
          record,
          load: async () => editedOf(await callApi(userSchema, path, { isSave: true })),
          describe: names => names.map(each => titles[each] ?? each)
        })
        const sent = password === '' ? body : { ...body, new_password: password }
        const message = await callAction(path, { method: 'PUT', body: sent }, this.#users.refresh)
        this.#isSaved = true
        closePeople()
        return message
      } catch (error) {
        const shown = new Set(['name', 'email', 'new_password'])
        this.problems = toApiError(error).fieldErrors.filter(({ field }) => shown.has(field))
        if (this.problems.length === 0) throw error
        void this.updateComplete.then(() => focusProblem(this))
        return ''
      }
    })
  }

  async #remove({ id, email }: User): Promise<void> {
    await this.#actions.run(
      'remove',
      () => callAction(`api/admin/user/${id}`, { method: 'DELETE' }, this.#users.refresh),
      {
        title: 'Remove the user?',
        text: `${email} is signed out everywhere at once, and their own API keys end.`,
        verb: 'Remove'
      }
    )
  }
}
