import { html } from 'lit'
import * as v from 'valibot'

import { type FieldError, toApiError } from '../api/api-error.ts'
import { callApi, storeKey } from '../api/call-api.ts'
import { signedInEvent, startSession } from '../shell/sign-in.ts'
import { notifyError } from '../ui/actions.ts'
import { focusProblem, labeledField, readForm } from '../ui/labeled-field.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'
import { rolesSchema } from './grants.ts'

/** The form with which the holder of the administrator's key becomes the first user. */
export class FirstAccount extends LightElement {
  static override properties = reactiveProperties<FirstAccount>('problems', 'isBusy')
  problems: readonly FieldError[] = []
  isBusy = false

  protected override render() {
    const { problems } = this
    return html`<section class="panel" aria-labelledby="first-account">
      <h2 class="heading" id="first-account">Create your account</h2>
      <form class="account-form" @submit=${(event: Event) => this.#create(event)}>
        <p>There are no users yet. With an account you sign in without the API key, and invite others.</p>
        ${labeledField('first', {
          name: 'email',
          label: 'Email address',
          type: 'email',
          autocomplete: 'username',
          isRequired: true,
          problems
        })}
        ${labeledField('first', { name: 'name', label: 'Your name', autocomplete: 'name', problems })}
        ${labeledField('first', {
          name: 'new_password',
          label: 'Password',
          type: 'password',
          autocomplete: 'new-password',
          help: 'At least 10 characters.',
          isRequired: true,
          problems
        })}
        <div>
          <button type="submit" class="button" data-kind="strong" aria-busy=${this.isBusy}>
            Create your account
          </button>
        </div>
      </form>
    </section>`
  }

  async #create(event: Event): Promise<void> {
    event.preventDefault()
    const form = this.querySelector('form')
    if (form === null || this.isBusy) return
    this.isBusy = true
    this.problems = []
    const { email = '', name = '', new_password = '' } = readForm(form)
    try {
      const roles = await callApi(rolesSchema, 'api/admin/roles')
      const administrator = roles.find(
        role => role.is_builtin && role.permissions.global.includes('administer all')
      )
      const body = { email, name, new_password, roles: administrator === undefined ? [] : [administrator.id] }
      await callApi(v.unknown(), 'api/admin/users', { method: 'POST', body })
      await startSession('api/frontend/account/session', { email, password: new_password })
      storeKey('')
      this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
    } catch (error) {
      this.problems = toApiError(error).fieldErrors
      if (this.problems.length === 0) notifyError(this, error)
      void this.updateComplete.then(() => focusProblem(this))
    } finally {
      this.isBusy = false
    }
  }
}
