import { html, render } from 'lit'

import type { Playlist } from '../api/responses.ts'
import { openForm } from '../forms/form-controller.ts'
import { defineElements, LightElement } from '../ui/light-element.ts'

interface DialogOptions {
  readonly title: string
  /** The label of the button that confirms. */
  readonly verb: string
  /** The fields of the form. */
  readonly content: unknown
  /** Does what the operator asked for. If it throws, the dialog shows the error and stays open. */
  readonly submit?: (entered: FormData) => Promise<void> | undefined
}

/** The form in a dialog. */
class DialogForm extends LightElement {
  declare options: DialogOptions
  /** Called with what was entered, and with null if the operator cancels. */
  declare close: (entered: FormData | null) => void

  readonly #form = openForm(this, {
    start: () => ({}),
    fields: () => [],
    showsProblem: true,
    isGuarded: false
  })

  protected override render() {
    const { title, verb, content } = this.options
    const { problem, isBusy } = this.#form
    return html`<form @submit=${() => this.#submit()}>
      <h2 id="media-dialog-title">${title}</h2>
      ${content}
      <p class="trouble" role="alert" ?hidden=${problem === ''}>${problem}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" @click=${() => this.close(null)}>Cancel</button>
        <button type="submit" class="button" data-kind="strong" ?disabled=${isBusy}>${verb}</button>
      </div>
    </form>`
  }

  async #submit(): Promise<void> {
    const entered = new FormData(this.querySelector('form') ?? undefined)
    const isDone = await this.#form.submit(async () => {
      await this.options.submit?.(entered)
      return ''
    })
    if (isDone) this.close(entered)
  }
}

/** Asks in a dialog with a form. Returns what was entered; null if the operator cancels. */
async function askInDialog(options: DialogOptions): Promise<FormData | null> {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'media-dialog-title')
  let response: FormData | null = null
  const close = (entered: FormData | null) => {
    response = entered
    dialog.close()
  }
  render(html`<dialog-form .options=${options} .close=${close}></dialog-form>`, dialog)
  document.body.append(dialog)
  const form = dialog.querySelector('dialog-form')
  // A dialog focuses the first field that it has when it is opened.
  if (form instanceof DialogForm) await form.updateComplete
  dialog.showModal()
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      resolve(response)
      dialog.remove()
    })
  })
}

function textOf(entered: FormData): string {
  const text = entered.get('text')
  return typeof text === 'string' ? text.trim() : ''
}

interface TextQuestion {
  readonly title: string
  readonly label: string
  readonly verb: string
  readonly value: string
  readonly help?: string
  readonly isOptional?: boolean
  /** Does what the operator asked for. If it throws, the dialog shows the error and stays open. */
  readonly submit?: (text: string) => Promise<void>
}

/** Asks for a text. Returns null if the operator cancels. */
export async function askForText(question: TextQuestion): Promise<string | null> {
  const { title, label, verb, value, help = '', isOptional = false, submit } = question
  const content = html`<label for="media-dialog-text">${label}</label>
    <input
      id="media-dialog-text"
      class="field"
      name="text"
      dir="auto"
      autocomplete="off"
      aria-describedby="media-dialog-help"
      .value=${value}
      ?required=${!isOptional}
    />
    <p class="quiet" id="media-dialog-help">${help}</p>`
  const entered = await askInDialog({ title, verb, content, submit: each => submit?.(textOf(each)) })
  return entered === null ? null : textOf(entered)
}

/** Asks for playlists. Returns their ids; null if the operator cancels. */
export async function askForPlaylists(playlists: readonly Playlist[]): Promise<number[] | null> {
  const choices = playlists.filter(({ source }) => source === 'songs')
  const content =
    choices.length === 0
      ? html`<p>There is no playlist of songs yet.</p>`
      : html`<p class="quiet">Songs that are in another playlist stay in it.</p>
          ${choices.map(
            ({ id, name }) =>
              html`<label class="choice"
                ><input type="checkbox" name="playlist" value=${id} /> <span dir="auto">${name}</span></label
              >`
          )}`
  const response = await askInDialog({ title: 'Add to playlists', verb: 'Add', content })
  const ids = response?.getAll('playlist').map(Number) ?? []
  return ids.length === 0 ? null : ids
}

defineElements({ 'dialog-form': DialogForm })
