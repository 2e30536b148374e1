import { html, nothing } from 'lit'

import { canUsePasskeys, askForPasskey } from '../account/passkeys.ts'
import { ApiRequestError, toApiRequestError } from '../api/api-error.ts'
import { callApi, storeTabApiKey, storeSignedInUser } from '../api/call-api.ts'
import { openForm } from '../forms/form-controller.ts'
import { labeledFieldView } from '../forms/labeled-field.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'

/** Dispatched after somebody has signed in. */
export const signedInEvent = 'cuewire-signed-in'

/** What may be sent as a header; the server checks the rest. */
const apiKeyPattern = /^[\x21-\x7e]{1,200}$/

/** The operations that set the session cookie. */
type SignInPath = `api/frontend/account/${'session' | 'webauthn/login' | 'join'}`

/** Signs in by a call that sets the session cookie. Throws an `ApiRequestError`, also if the browser refuses it. */
export const signInByCall = async (path: SignInPath, body: unknown): Promise<void> =>
  storeSessionUser(await requestSession(path, body))

/** Calls the server, which sets the session cookie. Returns the id of the user; throws an `ApiRequestError`. */
export async function requestSession(path: SignInPath, body: unknown): Promise<number> {
  const { user } = await callApi('POST', path, { body, key: '' })
  return user.id
}

/** Stores who has signed in. Throws an `ApiRequestError` if the browser has refused the cookie. */
export async function storeSessionUser(userId: number): Promise<void> {
  await callApi('GET', 'api/frontend/account/me', { key: '' }).catch((error: unknown) => {
    const { isUnauthenticated, status } = toApiRequestError(error)
    throw isUnauthenticated ? new ApiRequestError(noSessionText, status) : error
  })
  storeSignedInUser(userId)
}

const noSessionText = 'This browser did not keep the session: open the dashboard at the address of BASE_URL.'

const personFields = [
  { name: 'email', label: 'Email address' },
  { name: 'password', label: 'Password' }
]
const keyFields = [{ name: 'key', label: 'API key' }]

/** The button to sign in, and the dialog for a password, a passkey or an API key. */
export class SignIn extends LightElement {
  static override properties = reactiveProperties<SignIn>('reason', 'usesKey')
  /** Why the dialog was opened; '' if the operator opened it. */
  reason = ''
  usesKey = false

  readonly #form = openForm(this, {
    start: () => ({ email: '', password: '', key: '' }),
    fields: () => (this.usesKey ? keyFields : personFields),
    showsProblem: true,
    isGuarded: false
  })

  protected override render() {
    const { isBusy, problem } = this.#form
    return html`${buttonView('Sign in', () => this.open(), { style: 'link' })}
      <dialog class="dialog" aria-labelledby="sign-in" @close=${() => this.#form.reset()}>
        <form @submit=${() => this.#submit()}>
          <h2 id="sign-in">Sign in</h2>
          ${this.reason === '' ? nothing : html`<p>${this.reason}</p>`}
          ${this.usesKey ? this.#keyView() : this.#personView()}
          <p class="trouble" role="alert">${problem}</p>
          <div class="dialog-buttons">
            ${buttonView('Cancel', () => this.#dialog?.close())}
            ${
              this.usesKey || !canUsePasskeys()
                ? nothing
                : buttonView('Use a passkey', () => this.#run(signInWithPasskey), { isDisabled: isBusy })
            }
            <button type="submit" class="button" data-kind="strong" aria-busy=${isBusy}>
              ${isBusy ? 'Signing in…' : 'Sign in'}
            </button>
          </div>
          ${buttonView(
            this.usesKey ? 'Use an account' : 'Use an API key',
            () => {
              this.#form.reset()
              this.usesKey = !this.usesKey
            },
            { style: 'link' }
          )}
        </form>
      </dialog>`
  }

  #personView() {
    return html`${labeledFieldView(this.#form, {
      name: 'email',
      type: 'email',
      autocomplete: 'username webauthn',
      isRequired: true
    })}
    ${labeledFieldView(this.#form, {
      name: 'password',
      type: 'password',
      autocomplete: 'current-password',
      isRequired: true
    })}`
  }

  #keyView() {
    return labeledFieldView(this.#form, {
      name: 'key',
      type: 'password',
      help: 'The API key is kept in this browser tab until you close it.',
      isRequired: true
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

  #submit(): Promise<void> {
    const { email, password, key } = this.#form.values
    return this.#run(() =>
      this.usesKey
        ? signInWithKey(key.trim())
        : signInAsPerson('api/frontend/account/session', { email, password })
    )
  }

  async #run(signIn: () => Promise<void>): Promise<void> {
    const isSignedIn = await this.#form.submit(async () => {
      await signIn()
      return ''
    })
    if (isSignedIn) this.resume()
  }
}

/** Also forgets the key of this tab, which would win over the session. */
async function signInAsPerson(path: SignInPath, body: unknown): Promise<void> {
  await signInByCall(path, body)
  storeTabApiKey('')
}

async function signInWithPasskey(): Promise<void> {
  const passkey = await askForPasskey()
  await signInAsPerson('api/frontend/account/webauthn/login', { passkey })
}

async function signInWithKey(key: string): Promise<void> {
  if (!apiKeyPattern.test(key)) throw keyError('This is not an API key.')
  await callApi('GET', 'api/health', { key }).catch((error: unknown) => {
    const { isUnauthenticated, message } = toApiRequestError(error)
    throw keyError(isUnauthenticated ? 'This API key is not valid.' : message)
  })
  storeTabApiKey(key)
}

const keyError = (message: string) => new ApiRequestError(message, 400, false, [{ field: 'key', message }])
