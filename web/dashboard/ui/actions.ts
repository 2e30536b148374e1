import { html, type ReactiveControllerHost, render } from 'lit'

import { toApiRequestError } from '../api/api-error.ts'
import { rememberFocus } from './focus.ts'

/** A message to the operator that appears for a few seconds, errors for longer. */
export interface Notice {
  readonly text: string
  readonly isError: boolean
  /** Removed when the server responds again. */
  readonly isConnectionError?: boolean
}

/** Dispatched by an element that has a notice; `detail` is the notice. */
export const noticeEvent = 'cuewire-notice'

declare global {
  interface DocumentEventMap {
    [noticeEvent]: CustomEvent<Notice>
  }
}

export function showNotice(element: EventTarget, notice: Notice): void {
  element.dispatchEvent(new CustomEvent(noticeEvent, { detail: notice, bubbles: true }))
}

export function showErrorNotice(element: EventTarget, error: unknown): void {
  const { message, status } = toApiRequestError(error)
  showNotice(element, { text: message, isError: true, isConnectionError: status === 0 })
}

/** Runs the actions of an element, one at a time. */
export type ActionRunner = ReturnType<typeof openActionRunner>

/** Creates the action runner of a host, which is updated when an action starts and ends. */
export function openActionRunner(host: ReactiveControllerHost & EventTarget) {
  let inFlight: string | null = null
  return {
    /** The name of the action in flight; null if there is none. */
    get inFlight() {
      return inFlight
    },
    /**
     * Runs `work`, unless an action is in flight or the operator does not confirm `question`. Notifies the
     * operator of errors and of the message that `work` returns; '' for none.
     */
    async run(
      name: string,
      work: () => Promise<string>,
      question: ConfirmOptions | null = null
    ): Promise<void> {
      if (question !== null && !(await confirmAction(question))) return
      if (inFlight !== null) return
      inFlight = name
      const restoreFocus = rememberFocus()
      host.requestUpdate()
      try {
        const message = await work()
        if (message !== '') showNotice(host, { text: message, isError: false })
      } catch (error) {
        showErrorNotice(host, error)
      } finally {
        inFlight = null
        host.requestUpdate()
        void host.updateComplete.then(restoreFocus)
      }
    }
  }
}

export interface ConfirmOptions {
  readonly title: string
  readonly text: string
  /** The label of the button that confirms. */
  readonly verb: string
}

/** Asks in a dialog. Returns false if the operator cancels or `signal` is aborted. */
export async function confirmAction(
  { title, text, verb }: ConfirmOptions,
  signal?: AbortSignal
): Promise<boolean> {
  return (await chooseAction({ title, text, verbs: [verb] }, signal)) === verb
}

interface ChoiceOptions {
  readonly title: string
  readonly text: string
  /** The labels of the buttons. */
  readonly verbs: readonly string[]
}

/** Asks in a dialog which action to take. Returns its verb, '' if the operator cancels or `signal` is aborted. */
export function chooseAction({ title, text, verbs }: ChoiceOptions, signal?: AbortSignal): Promise<string> {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'confirm-title')
  const close = (response: string) => () => dialog.close(response)
  render(
    html`<h2 id="confirm-title">${title}</h2>
      <p>${text}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" autofocus @click=${close('')}>Cancel</button>
        ${verbs.map(
          verb =>
            html`<button type="button" class="button" data-kind="strong" @click=${close(verb)}>
              ${verb}
            </button>`
        )}
      </div>`,
    dialog
  )
  document.body.append(dialog)
  dialog.showModal()
  signal?.addEventListener('abort', close(''))
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue)
      dialog.remove()
    })
  })
}
