import { html, nothing, type PropertyValues } from 'lit'

import { callAction, callApi } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { Invitation } from '../api/responses.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, type Chip, chipView, tableView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { panelView } from '../ui/panel.ts'
import { grantsView, formatStationNames } from './grants.ts'
import { closePeopleForm, openPeopleForm } from './people-address.ts'

const intervalMs = 20_000
const newInvitation = 'invitation-new'
const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** How long a link is valid, in hours. */
const validities = [
  [24, 'a day'],
  [168, 'a week'],
  [720, '30 days']
] as const

const fields = [
  { name: 'email', label: 'Email address (optional)' },
  { name: 'name', label: 'Name (optional)' },
  { name: 'roles', label: 'Roles' },
  { name: 'stations', label: 'Stations' }
]

const noIds: readonly number[] = []

/** The invitations, and the form for a new one. */
export class InvitationList extends LightElement {
  static override properties = reactiveProperties<InvitationList>('item', 'link')
  /** `invitation-new`: the form is open. */
  declare item: string
  /** The link of an invitation that was created now, which is shown once. */
  link = ''

  readonly #actions = openActionRunner(this)
  readonly #invitations = pollResource(this, {
    path: () => 'api/admin/invitations',
    intervalMs
  })
  readonly #roles = pollResource(this, { path: () => 'api/admin/roles', intervalMs })
  readonly #stations = pollResource(this, { path: () => 'api/stations', intervalMs })
  readonly #form = openForm(this, {
    start: () => ({ email: '', name: '', roles: noIds, stations: noIds, expires_in_hours: 168 }),
    fields: () => fields,
    actions: this.#actions
  })

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('item')) this.#form.reset()
  }

  protected override render() {
    const rows = this.#invitations.value ?? []
    const invite = buttonView('Invite a person', () => openPeopleForm(newInvitation))
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
      <td class="wide">${formatStationNames(stations, this.#stations.value ?? [])}</td>
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
    const { expires_in_hours: validity } = this.#form.values
    return html`<form class="account-form" @submit=${() => this.#invite()}>
      ${labeledFieldView(this.#form, { name: 'email', type: 'email' })}
      ${labeledFieldView(this.#form, { name: 'name' })}
      ${grantsView(this.#form, this.#roles.value ?? [], this.#stations.value ?? [])}
      <label for="invite-hours">The link is valid for</label>
      <select
        id="invite-hours"
        class="field"
        @change=${({ target }: Event) => {
          if (target instanceof HTMLSelectElement) this.#form.set('expires_in_hours', Number(target.value))
        }}
      >
        ${validities.map(
          ([hours, text]) => html`<option value=${hours} .selected=${hours === validity}>${text}</option>`
        )}
      </select>
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong">Create the link</button>
        ${buttonView('Cancel', closePeopleForm)}
      </div>
    </form>`
  }

  async #invite(): Promise<void> {
    const body = this.#form.values
    const isCreated = await this.#form.submit(async () => {
      const { link } = await callApi('POST', 'api/admin/invitations', { body })
      this.link = link
      await this.#invitations.refresh()
      return ''
    })
    if (isCreated) closePeopleForm()
  }

  async #copyLink(): Promise<void> {
    await this.#actions.run('copy', async () => {
      await navigator.clipboard.writeText(this.link)
      return 'The link was copied.'
    })
  }

  async #revoke(id: number): Promise<void> {
    await this.#actions.run('revoke', () =>
      callAction('DELETE', `api/admin/invitation/${id}`, { refresh: this.#invitations.refresh })
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
