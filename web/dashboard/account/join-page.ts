import { html, nothing, type PropertyValues } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { callApi, storeTabApiKey } from '../api/call-api.ts'
import type { OpenInvitationAnswer } from '../api/responses.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { storeSessionUser, requestSession, signedInEvent } from '../shell/sign-in.ts'
import { buttonView } from '../ui/controls.ts'
import { defineElements, LightElement, reactiveProperties, setPageTitle } from '../ui/light-element.ts'
import { createPasskey } from './new-passkey.ts'
import { canUsePasskeys } from './passkeys.ts'

const account = 'api/frontend/account'

const fields = [
  { name: 'email', label: 'Email address' },
  { name: 'name', label: 'Your name' },
  { name: 'password', label: 'Password' }
]

/** The page of an invitation: the invited person chooses a password or a passkey. */
class JoinPage extends LightElement {
  static override properties = reactiveProperties<JoinPage>('token', 'invitation', 'problem')
  declare token: string
  invitation: OpenInvitationAnswer | null = null
  /** Why there is no invitation; '' if there is one. */
  problem = ''

  readonly #form = openForm(this, {
    start: () => {
      const { email = '', name = '' } = this.invitation ?? {}
      return { email, name, password: '' }
    },
    fields: () => fields,
    showsProblem: true,
    isGuarded: false
  })

  protected override render() {
    setPageTitle('Join')
    return html`<h1 class="headline" tabindex="-1">Join Cuewire</h1>
      ${this.invitation === null ? nothing : this.#formView(this.invitation.roles)}
      <p class="trouble" role="alert">${this.problem || this.#form.problem}</p>`
  }

  #formView(roles: readonly string[]) {
    const { isBusy } = this.#form
    return html`<form class="panel account-form" @submit=${() => this.#join(false)}>
      <p>You are invited as: ${roles.join(', ')}.</p>
      ${labeledFieldView(this.#form, {
        name: 'email',
        type: 'email',
        autocomplete: 'username',
        help: 'You sign in with it.',
        isRequired: true
      })}
      ${labeledFieldView(this.#form, { name: 'name', autocomplete: 'name' })}
      ${labeledFieldView(this.#form, {
        name: 'password',
        type: 'password',
        autocomplete: 'new-password',
        help: 'At least 10 characters. Not needed with a passkey.'
      })}
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong" aria-busy=${isBusy}>
          Join with a password
        </button>
        ${
          canUsePasskeys()
            ? buttonView('Join with a passkey', () => this.#join(true), { isDisabled: isBusy })
            : nothing
        }
      </div>
    </form>`
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('token')) void this.#open()
  }

  async #open(): Promise<void> {
    this.invitation = null
    this.problem = ''
    this.#form.reset()
    try {
      const body = { token: this.token }
      this.invitation = await callApi('POST', `${account}/invitation`, { body, key: '' })
    } catch (error) {
      this.problem = toApiRequestError(error).message
    }
  }

  async #join(withPasskey: boolean): Promise<void> {
    const isJoined = await this.#form.submit(async () => {
      const person = { token: this.token, ...this.#form.values }
      const join = (passkey: unknown) => requestSession(`${account}/join`, { ...person, passkey })
      const user = withPasskey
        ? await createPasskey({ path: `${account}/join/passkey`, body: person, store: join })
        : await join(null)
      await storeSessionUser(user)
      return ''
    })
    if (!isJoined) return
    storeTabApiKey('')
    location.hash = '#/'
    this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
  }
}

defineElements({ 'join-page': JoinPage })
