import { html, nothing } from 'lit'
import * as v from 'valibot'

import { asRefusal } from '../api/api-error.ts'
import { callApi } from '../api/call-api.ts'
import { isSendable, keepKey } from '../api/key.ts'
import { LightElement } from '../ui/light-element.ts'

/** The event that somebody signed in. */
export const signedIn = 'cuewire-signed-in'

/** The button for operators, and the dialog that asks for their key. */
export class SignIn extends LightElement {
  static override properties = { problem: { state: true }, isBusy: { state: true } }
  declare problem: string
  declare isBusy: boolean

  constructor() {
    super()
    this.problem = ''
    this.isBusy = false
  }

  protected override render() {
    return html`<button type="button" class="link" @click=${() => this.#dialog?.showModal()}>Operator</button>
      <dialog class="dialog" aria-labelledby="sign-in" @close=${this.#forget}>
        <form @submit=${this.#submit}>
          <h2 id="sign-in">Operator sign-in</h2>
          <p class="quiet">Your API key stays in this tab, and only until you close it.</p>
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
          <p class="trouble" id="key-problem" role="alert">${this.problem || nothing}</p>
          <div class="dialog-buttons">
            <button type="button" class="button" @click=${() => this.#dialog?.close()}>Cancel</button>
            <button type="submit" class="button" data-kind="strong" aria-busy=${this.isBusy}>
              ${this.isBusy ? 'Looking…' : 'Sign in'}
            </button>
          </div>
        </form>
      </dialog>`
  }

  get #dialog(): HTMLDialogElement | null {
    return this.querySelector('dialog')
  }

  readonly #submit = (event: Event) => {
    event.preventDefault()
    void this.#signIn()
  }

  async #signIn(): Promise<void> {
    const key = this.querySelector('input')?.value.trim() ?? ''
    if (this.isBusy || key === '') return
    if (!isSendable(key)) {
      this.problem = 'This is not an API key.'
      return
    }
    this.isBusy = true
    this.problem = ''
    try {
      await callApi(v.unknown(), 'api/health', { key })
      keepKey(key)
      this.#dialog?.close()
      this.dispatchEvent(new Event(signedIn, { bubbles: true }))
    } catch (error) {
      const refusal = asRefusal(error)
      this.problem = refusal.isStranger ? 'This key is not valid, or not any more.' : refusal.message
    } finally {
      this.isBusy = false
    }
  }

  /** The key is not left in the page. */
  readonly #forget = () => {
    const input = this.querySelector('input')
    if (input !== null) input.value = ''
    this.problem = ''
  }
}
