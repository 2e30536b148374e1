import { html, nothing, type PropertyValues } from 'lit'
import * as v from 'valibot'

import { describeProblem, type FieldError, toApiError } from '../api/api-error.ts'
import { callAction, callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, type Chip, chipView, tableView } from '../ui/controls.ts'
import { focusProblem, isEdited, labeledField, readForm } from '../ui/labeled-field.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { guardChanges } from '../ui/unsaved-changes.ts'
import { checkedIn, grantsView, nameStations, rolesSchema, stationsSchema } from './grants.ts'
import { closePeople, openPeople } from './people-address.ts'

const invitationSchema = v.object({
  id: v.number(),
  email: v.string(),
  name: v.string(),
  roles: v.array(v.object({ name: v.string() })),
  stations: v.array(v.number()),
  expires_at: v.number(),
  exceeds_inviter: v.boolean(),
  accepted_at: v.number(),
  revoked_at: v.number()
})
const createdSchema = v.object({ link: v.string() })
type Invitation = v.InferOutput<typeof invitationSchema>

const intervalMs = 20_000
const newInvitation = 'invitation-new'
const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** The invitations, and the form for a new one. */
export class InvitationList extends LightElement {
  static override properties = reactiveProperties<InvitationList>('item', 'link', 'problems')
  /** `invitation-new`: the form is open. */
  declare item: string
  /** The link of an invitation that was created now, which is shown once. */
  link = ''
  problems: readonly FieldError[] = []
  /** Whether the invitation in the form was created. */
  #isSaved = false

  readonly #actions = openActionRunner(this)
  readonly #invitations = pollResource(this, {
    schema: v.array(invitationSchema),
    path: () => 'api/admin/invitations',
    intervalMs
  })
  readonly #roles = pollResource(this, { schema: rolesSchema, path: () => 'api/admin/roles', intervalMs })
  readonly #stations = pollResource(this, { schema: stationsSchema, path: () => 'api/stations', intervalMs })

  constructor() {
    super()
    guardChanges(this, () => !this.#isSaved && isEdited(this.querySelector('form')))
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('item')) return
    this.problems = []
    this.#isSaved = false
  }

  protected override render() {
    const rows = this.#invitations.value ?? []
    const invite = buttonView('Invite a person', () => openPeople(newInvitation))
    return panelView(
      { id: 'invitations', title: 'Invitations', resource: this.#invitations, actions: invite },
      html`${this.item === newInvitation ? this.#formView() : nothing}
      ${
        this.link === ''
          ? nothing
          : html`<p role="status">
              Send this link to the person. It works once, and is not shown again: <code>${this.link}</code>
              ${/* Elsewhere browsers offer no clipboard. */ isSecureContext ? buttonView('Copy', () => this.#copyLink(), { label: 'Copy the link' }) : nothing}
            </p>`
      }
      ${
        rows.length === 0
          ? nothing
          : html`<div class="scroll">
              ${tableView(
                [
                  'Person',
                  ['Roles', 'wide'],
                  ['Stations', 'wide'],
                  ['Expires', 'wide'],
                  'State',
                  ['', 'row-actions']
                ],
                rows.map(row => this.#rowView(row))
              )}
            </div>`
      }`
    )
  }

  #rowView(invitation: Invitation) {
    const { id, email, name, roles, stations, expires_at: expiresAt } = invitation
    const chip = stateChip(invitation)
    const roleNames = roles.map(role => role.name).join(', ')
    const person = name || email || 'Anyone with the link'
    return html`<tr>
      <th scope="row" class="row-title">
        ${person}
        <p class="narrow quiet">${roleNames}</p>
      </th>
      <td class="wide">${roleNames}</td>
      <td class="wide">${nameStations(stations, this.#stations.value ?? [])}</td>
      <td class="wide">${time.format(expiresAt * 1_000)}</td>
      <td>
        ${chipView(chip)}
        ${chip.text === notValid ? html`<p class="quiet">Who made it may not give these permissions any more.</p>` : nothing}
      </td>
      <td class="row-actions">
        ${
          chip.text === 'Open' || chip.text === notValid
            ? buttonView('Revoke', () => this.#revoke(id), {
                style: 'link',
                label: `Revoke the invitation of ${person}`
              })
            : nothing
        }
      </td>
    </tr>`
  }

  #formView() {
    const { problems } = this
    const roles = problems.find(({ field }) => field === 'roles')
    const rolesProblem = roles === undefined ? '' : describeProblem('Roles', roles)
    return html`<form class="account-form" @submit=${(event: Event) => this.#invite(event)}>
      ${labeledField('invite', { name: 'email', label: 'Email address (optional)', type: 'email', problems })}
      ${labeledField('invite', { name: 'name', label: 'Name (optional)', problems })}
      ${grantsView(this.#roles.value ?? [], this.#stations.value ?? [], { roleIds: [], stationIds: [] })}
      <p class="trouble" role="alert">${rolesProblem}</p>
      <label for="invite-hours">The link is valid for</label>
      <select id="invite-hours" name="expires_in_hours" class="field">
        <option value="24">a day</option>
        <option value="168" selected>a week</option>
        <option value="720">30 days</option>
      </select>
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Create the link</button>
        ${buttonView('Cancel', closePeople)}
      </div>
    </form>`
  }

  async #invite(event: Event): Promise<void> {
    event.preventDefault()
    const form = this.querySelector('form')
    if (form === null) return
    const { email = '', name = '', expires_in_hours: hours = '' } = readForm(form)
    const body = {
      email,
      name,
      roles: checkedIn(form, 'roles').map(Number),
      stations: checkedIn(form, 'stations').map(Number),
      expires_in_hours: Number(hours)
    }
    this.problems = []
    await this.#actions.run('invite', async () => {
      try {
        const { link } = await callApi(createdSchema, 'api/admin/invitations', { method: 'POST', body })
        this.link = link
        this.#isSaved = true
        closePeople()
        await this.#invitations.refresh()
      } catch (error) {
        this.problems = toApiError(error).fieldErrors
        if (this.problems.length === 0) throw error
        void this.updateComplete.then(() => focusProblem(this))
      }
      return ''
    })
  }

  async #copyLink(): Promise<void> {
    await this.#actions.run('copy', async () => {
      await navigator.clipboard.writeText(this.link)
      return 'The link was copied.'
    })
  }

  async #revoke(id: number): Promise<void> {
    await this.#actions.run('revoke', () =>
      callAction(`api/admin/invitation/${id}`, { method: 'DELETE' }, this.#invitations.refresh)
    )
  }
}

const notValid = 'Not valid'

function stateChip({ accepted_at, revoked_at, expires_at, exceeds_inviter }: Invitation): Chip {
  if (accepted_at > 0) return { text: 'Accepted', tone: 'good' }
  if (revoked_at > 0) return { text: 'Revoked', tone: 'neutral' }
  if (expires_at * 1_000 < Date.now()) return { text: 'Expired', tone: 'neutral' }
  if (exceeds_inviter) return { text: notValid, tone: 'bad' }
  return { text: 'Open', tone: 'warning' }
}
