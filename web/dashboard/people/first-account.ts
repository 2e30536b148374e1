import { html } from 'lit'

import { callApi, storeTabApiKey } from '../api/call-api.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { signedInEvent, signInByCall } from '../shell/sign-in.ts'
import { LightElement } from '../ui/light-element.ts'

const fields = [
  { name: 'email', label: 'Email address' },
  { name: 'name', label: 'Your name' },
  { name: 'new_password', label: 'Password' }
]

/** The form with which the holder of the administrator's key becomes the first user. */
export class FirstAccount extends LightElement {
  readonly #form = openForm(this, {
    start: () => ({ email: '', name: '', new_password: '' }),
    fields: () => fields,
    isGuarded: false
  })

  protected override render() {
    return html`<section class="panel" aria-labelledby="first-account">
      <h2 class="heading" id="first-account">Create your account</h2>
      <form class="account-form" @submit=${() => this.#create()}>
        <p>There are no users yet. With an account you sign in without the API key, and invite others.</p>
        ${labeledFieldView(this.#form, {
          name: 'email',
          type: 'email',
          autocomplete: 'username',
          isRequired: true
        })}
        ${labeledFieldView(this.#form, { name: 'name', autocomplete: 'name' })}
        ${labeledFieldView(this.#form, {
          name: 'new_password',
          type: 'password',
          autocomplete: 'new-password',
          help: 'At least 10 characters.',
          isRequired: true
        })}
        <div>
          <button type="submit" class="button" data-kind="strong" aria-busy=${this.#form.isBusy}>
            Create your account
          </button>
        </div>
      </form>
    </section>`
  }

  async #create(): Promise<void> {
    const { email, name, new_password } = this.#form.values
    const isCreated = await this.#form.submit(async () => {
      const roles = await callApi('GET', 'api/admin/roles')
      const administrator = roles.find(
        role => role.is_builtin && role.permissions.global.includes('administer all')
      )
      const body = { email, name, new_password, roles: administrator === undefined ? [] : [administrator.id] }
      await callApi('POST', 'api/admin/users', { body })
      await signInByCall('api/frontend/account/session', { email, password: new_password })
      return ''
    })
    if (!isCreated) return
    storeTabApiKey('')
    this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
  }
}
