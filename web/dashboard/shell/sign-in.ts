import { html } from 'lit'
import * as v from 'valibot'

import { toApiError } from '../api/api-error.ts'
import { callApi, storeKey } from '../api/call-api.ts'
import { buttonView } from '../ui/controls.ts'
import { LightElement, reactiveProperties } from '../ui/light-element.ts'

/** Dispatched after an operator has signed in. */
export const signedInEvent = 'cuewire-signed-in'

/** What may be sent as a header; the server checks the rest. */
const apiKeyPattern = /^[\x21-\x7e]{1,200}$/

/** The button for operators, and the dialog in which they enter their API key. */
export class SignIn extends LightElement {
  static override properties = reactiveProperties('problem', 'isBusy')
  problem = ''
  isBusy = false

  protected override render() {
    return html`${buttonView('Operator', () => this.#dialog?.showModal(), { style: 'link' })}
      <dialog class="dialog" aria-labelledby="sign-in" @close=${() => this.#reset()}>
        <form @submit=${(event: Event) => this.#signIn(event)}>
          <h2 id="sign-in">Operator sign-in</h2>
          <p class="quiet">The API key is kept in this browser tab until you close it.</p>
          <label for="key">API key</label>
          <input
            id="key"
            class="field"
            type="password"
            autocomplete="off"
            spellcheck="false"
            required
            aria-invalid=${this.problem !== ''}
            aria-describedby="key-problem"
          />
          <p class="trouble" id="key-problem" role="alert">${this.problem}</p>
          <div class="dialog-buttons">
            ${buttonView('Cancel', () => this.#dialog?.close())}
            <button type="submit" class="button" data-kind="strong" aria-busy=${this.isBusy}>
              ${this.isBusy ? 'Signing in…' : 'Sign in'}
            </button>
          </div>
        </form>
      </dialog>`
  }

  get #dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog')
  }

  async #signIn(event: Event): Promise<void> {
    event.preventDefault()
    const key = this.querySelector('input')?.value.trim() ?? ''
    if (this.isBusy || key === '') return
    if (!apiKeyPattern.test(key)) {
      this.problem = 'This is not an API key.'
      return
    }
    this.isBusy = true
    this.problem = ''
    try {
      await callApi(v.unknown(), 'api/health', { key })
      storeKey(key)
      this.#dialog?.close()
      this.dispatchEvent(new Event(signedInEvent, { bubbles: true }))
    } catch (thrown) {
      const error = toApiError(thrown)
      this.problem = error.isUnauthenticated ? 'This API key is not valid.' : error.message
    } finally {
      this.isBusy = false
    }
  }

  /** Removes the key from the page. */
  #reset(): void {
    const input = this.querySelector('input')
    if (input !== null) input.value = ''
    this.problem = ''
  }
}
