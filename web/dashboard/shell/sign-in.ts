import { html, nothing } from 'lit'
import * as v from 'valibot'

import { canUsePasskeys, usePasskey } from '../account/passkeys.ts'
import { ApiError, type FieldError, toApiError } from '../api/api-error.ts'
import { callApi, storeKey, storeUser } from '../api/call-api.ts'
import { buttonView } from '../ui/controls.ts'
import { focusProblem, labeledField, readForm } from '../ui/labeled-field.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'

/** Dispatched after somebody has signed in. */
export const signedInEvent = 'cuewire-signed-in'

/** What may be sent as a header; the server checks the rest. */
const apiKeyPattern = /^[\x21-\x7e]{1,200}$/

const signedInSchema = v.object({ user: v.object({ id: v.number() }) })

/** Signs in by a call that sets the session cookie. Throws an `ApiError`, also if the browser refuses it. */
export const startSession = async (path: string, body: unknown): Promise<void> =>
  keepSession(await openSession(path, body))

/** Calls the server, which sets the session cookie. Returns the id of the user; throws an `ApiError`. */
export async function openSession(path: string, body: unknown): Promise<number> {
  const { user } = await callApi(signedInSchema, path, { method: 'POST', body, key: '' })
  return user.id
}

/** Stores who has signed in. Throws an `ApiError` if the browser has refused the cookie. */
export async function keepSession(userId: number): Promise<void> {
  await callApi(v.unknown(), 'api/frontend/account/me', { key: '' })
  storeUser(userId)
}

/** The button to sign in, and the dialog for a password, a passkey or an API key. */
export class SignIn extends LightElement {
  static override properties = reactiveProperties<SignIn>(
    'reason',
    'usesKey',
    'problem',
    'problems',
    'isBusy'
  )
  /** Why the dialog was opened; '' if the operator opened it. */
  reason = ''
  usesKey = false
  problem = ''
  problems: readonly FieldError[] = []
  isBusy = false

  protected override render() {
    return html`${buttonView('Sign in', () => this.open(), { style: 'link' })}
      <dialog class="dialog" aria-labelledby="sign-in" @close=${() => this.#reset()}>
        <form @submit=${(event: Event) => this.#submit(event)}>
          <h2 id="sign-in">Sign in</h2>
          ${this.reason === '' ? nothing : html`<p>${this.reason}</p>`}
          ${this.usesKey ? this.#keyView() : this.#personView()}
          <p class="trouble" role="alert">${this.problem}</p>
          <div class="dialog-buttons">
            ${buttonView('Cancel', () => this.#dialog?.close())}
            ${
              this.usesKey || !canUsePasskeys()
                ? nothing
                : buttonView('Use a passkey', () => this.#run(signInWithPasskey), { isDisabled: this.isBusy })
            }
            <button type="submit" class="button" data-kind="strong" aria-busy=${this.isBusy}>
              ${this.isBusy ? 'Signing in…' : 'Sign in'}
            </button>
          </div>
          ${buttonView(
            this.usesKey ? 'Use an account' : 'Use an API key',
            () => {
              this.#reset()
              this.usesKey = !this.usesKey
            },
            { style: 'link' }
          )}
        </form>
      </dialog>`
  }

  #personView() {
    const { problems } = this
    return html`${labeledField('sign-in', {
      name: 'email',
      label: 'Email address',
      type: 'email',
      autocomplete: 'username webauthn',
      isRequired: true,
      problems
    })}
    ${labeledField('sign-in', {
      name: 'password',
      label: 'Password',
      type: 'password',
      autocomplete: 'current-password',
      isRequired: true,
      problems
    })}`
  }

  #keyView() {
    return labeledField('sign-in', {
      name: 'key',
      label: 'API key',
      type: 'password',
      help: 'The API key is kept in this browser tab until you close it.',
      isRequired: true,
      problems: this.problems
    })
  }

  /** Shows the dialog. */
  open(): void {
    if (this.#dialog?.open === false) this.#dialog.showModal()
  }

  /** Closes the dialog as if somebody had signed in with it. */
  resume(): void {
    this.#dialog?.close()
    this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
  }

  get #dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog')
  }

  #submit(event: Event): void {
    event.preventDefault()
    const form = this.querySelector('form')
    if (form === null) return
    const values = readForm(form)
    const { key = '' } = values
    void this.#run(() =>
      this.usesKey ? signInWithKey(key) : signInAsPerson('api/frontend/account/session', values)
    )
  }

  async #run(signIn: () => Promise<void>): Promise<void> {
    if (this.isBusy) return
    this.isBusy = true
    this.problem = ''
    this.problems = []
    try {
      await signIn()
      this.#dialog?.close()
      this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
    } catch (thrown) {
      this.#explain(thrown)
    } finally {
      this.isBusy = false
    }
  }

  #explain(thrown: unknown): void {
    const { isUnauthenticated, message, fieldErrors } = toApiError(thrown)
    if (this.usesKey) {
      const text = isUnauthenticated ? 'This API key is not valid.' : message
      this.problems = [{ field: 'key', message: text }]
    } else if (isUnauthenticated)
      this.problem = 'This browser did not keep the session: open the dashboard at the address of BASE_URL.'
    else {
      this.problems = fieldErrors.filter(({ field }) => ['email', 'password'].includes(field))
      if (this.problems.length === 0) this.problem = message
    }
    void this.updateComplete.then(() => focusProblem(this))
  }

  /** Removes passwords and keys from the page. */
  #reset(): void {
    this.querySelector('form')?.reset()
    this.problem = ''
    this.problems = []
  }
}

/** Also forgets the key of this tab, which would win over the session. */
async function signInAsPerson(path: string, body: unknown): Promise<void> {
  await startSession(path, body)
  storeKey('')
}

async function signInWithPasskey(): Promise<void> {
  const passkey = await usePasskey()
  await signInAsPerson('api/frontend/account/webauthn/login', { passkey })
}

async function signInWithKey(key: string): Promise<void> {
  const text = key.trim()
  if (!apiKeyPattern.test(text)) throw new ApiError('This is not an API key.', 400)
  await callApi(v.unknown(), 'api/health', { key: text })
  storeKey(text)
}
