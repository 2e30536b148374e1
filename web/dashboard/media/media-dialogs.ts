import { html, render } from 'lit'

import { toApiError } from '../api/api-error.ts'
import type { MediaPlaylist } from './media-record.ts'

interface DialogOptions {
  readonly title: string
  /** The label of the button that confirms. */
  readonly verb: string
  /** The fields of the form. */
  readonly content: unknown
  /** Does what the operator asked for. If it throws, the dialog shows the error and stays open. */
  readonly submit?: (entered: FormData) => Promise<void> | undefined
}

/** Asks in a dialog with a form. Returns what was entered; null if the operator cancels. */
function askInDialog({ title, verb, content, submit }: DialogOptions): Promise<FormData | null> {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'media-dialog-title')
  let answer: FormData | null = null
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const entered = new FormData(event.currentTarget)
    try {
      renderForm({ isBusy: true })
      await submit?.(entered)
      answer = entered
      dialog.close()
    } catch (error) {
      renderForm({ problem: toApiError(error).message })
    }
  }
  const renderForm = ({ problem = '', isBusy = false }) =>
    render(
      html`<form @submit=${onSubmit}>
        <h2 id="media-dialog-title">${title}</h2>
        ${content}
        <p class="trouble" role="alert" ?hidden=${problem === ''}>${problem}</p>
        <div class="dialog-buttons">
          <button type="button" class="button" @click=${() => dialog.close()}>Cancel</button>
          <button type="submit" class="button" data-kind="strong" ?disabled=${isBusy}>${verb}</button>
        </div>
      </form>`,
      dialog
    )
  renderForm({})
  document.body.append(dialog)
  dialog.showModal()
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      resolve(answer)
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
  readonly choices?: readonly string[]
  /** Does what the operator asked for. If it throws, the dialog shows the error and stays open. */
  readonly submit?: (text: string) => Promise<void>
}

/** Asks for a text. Returns null if the operator cancels. */
export async function askText(question: TextQuestion): Promise<string | null> {
  const { title, label, verb, value, help = '', isOptional = false, choices = [], submit } = question
  const content = html`<label for="media-dialog-text">${label}</label>
    <input
      id="media-dialog-text"
      class="field"
      name="text"
      dir="auto"
      autocomplete="off"
      list="media-dialog-choices"
      aria-describedby="media-dialog-help"
      .value=${value}
      ?required=${!isOptional}
    />
    <datalist id="media-dialog-choices">
      ${choices.map(choice => html`<option value=${choice}></option>`)}
    </datalist>
    <p class="quiet" id="media-dialog-help">${help}</p>`
  const entered = await askInDialog({ title, verb, content, submit: each => submit?.(textOf(each)) })
  return entered === null ? null : textOf(entered)
}

/** Asks for playlists. Returns their ids; null if the operator cancels. */
export async function askPlaylists(playlists: readonly MediaPlaylist[]): Promise<number[] | null> {
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
  const answer = await askInDialog({ title: 'Add to playlists', verb: 'Add', content })
  const ids = answer?.getAll('playlist').map(Number) ?? []
  return ids.length === 0 ? null : ids
}
