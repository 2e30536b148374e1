import { html, nothing, type PropertyValues } from 'lit'
import * as v from 'valibot'

import { type FieldError, toApiError } from '../api/api-error.ts'
import { callApi, storeKey } from '../api/call-api.ts'
import { keepSession, openSession, signedInEvent } from '../shell/sign-in.ts'
import { buttonView } from '../ui/controls.ts'
import { focusProblem, labeledField, readForm } from '../ui/labeled-field.ts'
import { defineElements, LightElement, reactiveProperties, setPageTitle } from '../ui/light-element.ts'
import { createPasskey, UnusedPasskeyError } from './new-passkey.ts'
import { canUsePasskeys } from './passkeys.ts'

const account = 'api/frontend/account'

const invitationSchema = v.object({ email: v.string(), name: v.string(), roles: v.array(v.string()) })

/** The page of an invitation: the invited person chooses a password or a passkey. */
class JoinPage extends LightElement {
  static override properties = reactiveProperties<JoinPage>(
    'token',
    'invitation',
    'problem',
    'problems',
    'isBusy'
  )
  declare token: string
  invitation: v.InferOutput<typeof invitationSchema> | null = null
  problem = ''
  problems: readonly FieldError[] = []
  isBusy = false

  protected override render() {
    setPageTitle('Join')
    return html`<h1 class="headline" tabindex="-1">Join Cuewire</h1>
      ${this.invitation === null ? nothing : this.#formView(this.invitation)}
      <p class="trouble" role="alert">${this.problem}</p>`
  }

  #formView({ email, name, roles }: v.InferOutput<typeof invitationSchema>) {
    const { problems } = this
    return html`<form class="panel account-form" @submit=${(event: Event) => this.#submit(event)}>
      <p>You are invited as: ${roles.join(', ')}.</p>
      ${labeledField('join', {
        name: 'email',
        label: 'Email address',
        type: 'email',
        autocomplete: 'username',
        value: email,
        help: 'You sign in with it.',
        isRequired: true,
        problems
      })}
      ${labeledField('join', { name: 'name', label: 'Your name', autocomplete: 'name', value: name, problems })}
      ${labeledField('join', {
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'new-password',
        help: 'At least 10 characters. Not needed with a passkey.',
        problems
      })}
      <div class="button-row">
        <button type="submit" class="button" data-kind="strong" aria-busy=${this.isBusy}>
          Join with a password
        </button>
        ${
          canUsePasskeys()
            ? buttonView('Join with a passkey', () => this.#join(true), { isDisabled: this.isBusy })
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
    try {
      const body = { token: this.token }
      this.invitation = await callApi(invitationSchema, `${account}/invitation`, {
        method: 'POST',
        body,
        key: ''
      })
    } catch (error) {
      this.problem = toApiError(error).message
    }
  }

  #submit(event: Event): void {
    event.preventDefault()
    void this.#join(false)
  }

  async #join(withPasskey: boolean): Promise<void> {
    const form = this.querySelector('form')
    if (form === null || this.isBusy) return
    this.isBusy = true
    this.problem = ''
    this.problems = []
    const { email = '', name = '', password = '' } = readForm(form)
    const person = { token: this.token, email, name, password }
    const join = (passkey: unknown) => openSession(`${account}/join`, { ...person, passkey })
    try {
      const user = withPasskey
        ? await createPasskey({ path: `${account}/join/passkey`, body: person, store: join })
        : await join(null)
      await keepSession(user)
      storeKey('')
      location.hash = '#/'
      this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
    } catch (thrown) {
      const { message, fieldErrors } = toApiError(thrown)
      const remains = thrown instanceof UnusedPasskeyError ? thrown.remains : ''
      this.problems = fieldErrors.filter(({ field }) => ['email', 'name', 'password'].includes(field))
      this.problem = this.problems.length === 0 ? message : remains
      void this.updateComplete.then(() => focusProblem(this))
    } finally {
      this.isBusy = false
    }
  }
}

defineElements({ 'join-page': JoinPage })
