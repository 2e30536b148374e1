import { html, nothing } from 'lit'

import { callAction, callApi, currentApiKey, storeSignedInUser } from '../api/call-api.ts'
import { pollResource } from '../api/poll-resource.ts'
import type { GetMeAnswer } from '../api/responses.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { signedInEvent } from '../shell/sign-in.ts'
import { openActionRunner } from '../ui/actions.ts'
import { buttonView, chipView, tableView } from '../ui/controls.ts'
import { defineElements, LightElement, reactiveProperties } from '../ui/light-element.ts'
import { loadStateView, panelView } from '../ui/panel.ts'
import { formatAge } from '../ui/text.ts'
import { guardUnsavedChanges } from '../ui/unsaved-changes.ts'
import { createPasskey } from './new-passkey.ts'
import { canUsePasskeys } from './passkeys.ts'

const account = 'api/frontend/account'
const intervalMs = 30_000

const passwordFields = [
  { name: 'current_password', label: 'Current password' },
  { name: 'new_password', label: 'New password' }
]
const keyFields = [{ name: 'name', label: 'What is the key for?' }]

/** The account of the user who has signed in. */
class AccountPage extends LightElement {
  static override properties = reactiveProperties<AccountPage>('newKey')
  /** A key that was created now, which is shown once. */
  newKey = ''

  readonly #actions = openActionRunner(this)
  readonly #password = openForm(this, {
    start: () => ({ current_password: '', new_password: '' }),
    fields: () => passwordFields,
    isGuarded: false,
    actions: this.#actions
  })
  readonly #key = openForm(this, {
    start: () => ({ name: '' }),
    fields: () => keyFields,
    actions: this.#actions
  })
  readonly #me = this.#poll('me')
  readonly #passkeys = this.#poll('passkeys')
  readonly #sessions = this.#poll('sessions')
  readonly #keys = this.#poll('api-keys')

  constructor() {
    super()
    // Browsers fill in the current password by themselves.
    guardUnsavedChanges(this, () => this.#password.values.new_password !== '')
  }

  #poll<Name extends string>(name: Name) {
    return pollResource(this, {
      path: () => (currentApiKey() === '' ? (`${account}/${name}` as const) : null),
      intervalMs
    })
  }

  protected override render() {
    if (currentApiKey() !== '')
      return html`<p>You use an API key. Sign out, and sign in with an account, to manage the account.</p>`
    const me = this.#me.value
    if (me === null) return loadStateView(this.#me)
    return html`<div class="stack">
      ${this.#passwordView(me)} ${this.#passkeysView()} ${this.#sessionsView()} ${this.#keysView()}
    </div>`
  }

  #passwordView({ email, roles, has_password: hasPassword }: GetMeAnswer) {
    const names = roles.map(({ name }) => name).join(', ')
    const content = html`<p>${email}${names === '' ? '' : `: ${names}`}</p>
      <form class="account-form" @submit=${() => this.#changePassword()}>
        <input type="text" name="username" autocomplete="username" .defaultValue=${email} hidden />
        ${
          hasPassword
            ? labeledFieldView(this.#password, {
                name: 'current_password',
                type: 'password',
                autocomplete: 'current-password',
                isRequired: true
              })
            : nothing
        }
        ${labeledFieldView(this.#password, {
          name: 'new_password',
          type: 'password',
          autocomplete: 'new-password',
          help: 'At least 10 characters. All other sessions end.',
          isRequired: true
        })}
        <div>
          <button type="submit" class="button">${hasPassword ? 'Change password' : 'Set password'}</button>
        </div>
      </form>`
    return panelView({ id: 'account-password', title: 'Password', resource: this.#me }, content)
  }

  async #changePassword(): Promise<void> {
    const body = this.#password.values
    const isChanged = await this.#password.submit(() =>
      callAction('PUT', `${account}/password`, { body, refresh: this.#sessions.refresh })
    )
    if (isChanged) await this.#me.refresh()
  }

  #passkeysView() {
    const rows = this.#passkeys.value ?? []
    const add = canUsePasskeys() ? buttonView('Add a passkey', () => this.#addPasskey()) : nothing
    const emptyText =
      this.#passkeys.value?.length === 0
        ? 'No passkey. With one you sign in by fingerprint, face, PIN or security key, without a password.'
        : ''
    const panel = {
      id: 'account-passkeys',
      title: 'Passkeys',
      resource: this.#passkeys,
      emptyText,
      actions: add
    }
    return panelView(
      panel,
      rows.map(
        ({ id, name, created_at: createdAt }) =>
          html`<div class="line">
            <span>${name}</span> <span class="quiet">added ${formatAge(createdAt)}</span>
            ${buttonView('Remove', () => this.#removePasskey(id, name), {
              style: 'link',
              label: `Remove ${name}`
            })}
          </div>`
      )
    )
  }

  async #addPasskey(): Promise<void> {
    await this.#actions.run('passkey', async () => {
      const path = `${account}/webauthn/register`
      const name = `${navigator.platform} ${new Date().toLocaleDateString()}`.trim()
      const message = await createPasskey({
        path,
        store: passkey => callAction('PUT', path, { body: { passkey, name } })
      })
      await this.#passkeys.refresh()
      return message
    })
  }

  async #removePasskey(id: number, name: string): Promise<void> {
    await this.#actions.run(
      `passkey ${id}`,
      () => callAction('DELETE', `${account}/passkey/${id}`, { refresh: this.#passkeys.refresh }),
      { title: 'Remove the passkey?', text: `You can no longer sign in with ${name}.`, verb: 'Remove' }
    )
  }

  #sessionsView() {
    const rows = (this.#sessions.value ?? []).map(
      session =>
        html`<tr>
          <td>
            ${describeAgent(session.user_agent)}
            ${session.is_current ? chipView({ text: 'This browser', tone: 'good' }) : nothing}
          </td>
          <td>${session.address}</td>
          <td>${formatAge(session.last_used_at)}</td>
          <td>
            ${
              session.is_current
                ? nothing
                : buttonView('End', () => this.#endSession(session.id), {
                    style: 'link',
                    label: `End the session ${describeAgent(session.user_agent)}, ${session.address}`
                  })
            }
          </td>
        </tr>`
    )
    const actions = buttonView('Sign out everywhere', () => this.#signOutEverywhere())
    return panelView(
      { id: 'account-sessions', title: 'Where you are signed in', resource: this.#sessions, actions },
      html`<div class="scroll">${tableView(['Browser', 'Address', 'Last used', ''], rows)}</div>`
    )
  }

  async #endSession(id: number): Promise<void> {
    await this.#actions.run(`session ${id}`, () =>
      callAction('DELETE', `${account}/session/${id}`, { refresh: this.#sessions.refresh })
    )
  }

  async #signOutEverywhere(): Promise<void> {
    await this.#actions.run(
      'sign out',
      async () => {
        await callApi('DELETE', `${account}/sessions`)
        storeSignedInUser(null)
        location.hash = '#/'
        this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
        return 'Signed out everywhere.'
      },
      {
        title: 'Sign out everywhere?',
        text: 'All your sessions end, also this one. API keys remain.',
        verb: 'Sign out'
      }
    )
  }

  #keysView() {
    const rows = this.#keys.value ?? []
    const form = html`<form class="account-form" @submit=${() => this.#createKey()}>
      ${labeledFieldView(this.#key, { name: 'name', isRequired: true })}
      <div><button type="submit" class="button">Create a key</button></div>
    </form>`
    return panelView(
      { id: 'account-keys', title: 'Your API keys', resource: this.#keys },
      html`<p class="quiet">For programs. A key may always do what you may do, and ends with your account.</p>
        ${
          this.newKey === ''
            ? nothing
            : html`<p role="status">Copy the key now, it is shown once: <code>${this.newKey}</code></p>`
        }
        ${rows.map(
          ({ id, name, identifier }) =>
            html`<div class="line">
              <span>${name}</span> <code class="quiet">${identifier}</code>
              ${buttonView('Revoke', () => this.#revokeKey(id, name), {
                style: 'link',
                label: `Revoke ${name}`
              })}
            </div>`
        )}
        ${form}`
    )
  }

  async #createKey(): Promise<void> {
    const body = this.#key.values
    await this.#key.submit(async () => {
      const { key } = await callApi('POST', `${account}/api-keys`, { body })
      this.newKey = key
      await this.#keys.refresh()
      return ''
    })
  }

  async #revokeKey(id: string, name: string): Promise<void> {
    await this.#actions.run(
      `key ${id}`,
      () => callAction('DELETE', `${account}/api-key/${id}`, { refresh: this.#keys.refresh }),
      { title: 'Revoke the key?', text: `Programs that use ${name} lose access at once.`, verb: 'Revoke' }
    )
  }
}

/** A short name of a browser, from its `User-Agent`. */
function describeAgent(agent: string): string {
  const browser = /(Edg|OPR|Firefox|Chrome|Safari)\w*\//.exec(agent)?.[1] ?? ''
  const system = /(Android|iPhone|iPad|Windows|Mac OS X|Linux)/.exec(agent)?.[1] ?? ''
  const names: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' }
  const text = [names[browser] ?? browser, system].filter(part => part !== '').join(' on ')
  return text || agent.slice(0, 40) || 'Unknown'
}

defineElements({ 'account-page': AccountPage })
