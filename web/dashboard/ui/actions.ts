import { html, type ReactiveControllerHost, render } from 'lit'

import { notify, refusalNotice } from './notice.ts'

/** What an element does for an operator. */
export interface PendingAction {
  /** The name of what is under way; null: nothing is. */
  readonly underWay: string | null
  /**
   * Does it, unless something is under way; says how it went. What `work` gives is said, if it is not empty.
   */
  readonly act: (name: string, work: () => Promise<string>) => Promise<void>
}

/** Lets an element do one thing at a time, and draws it again when one begins and ends. */
export function actionFor(host: ReactiveControllerHost & EventTarget): PendingAction {
  let underWay: string | null = null
  return {
    get underWay() {
      return underWay
    },
    act: async (name, work) => {
      if (underWay !== null) return
      underWay = name
      host.requestUpdate()
      try {
        const said = await work()
        if (said !== '') notify(host, { text: said, isBad: false })
      } catch (error) {
        notify(host, refusalNotice(error))
      } finally {
        underWay = null
        host.requestUpdate()
      }
    }
  }
}

interface Choice {
  readonly title: string
  readonly text: string
  /** What the button says that does it. */
  readonly verb: string
}

/**
 * Asks before something is done that cannot be undone; once `signal` is aborted there is nothing to ask any
 * more.
 */
export function confirmed({ title, text, verb }: Choice, signal?: AbortSignal): Promise<boolean> {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'confirm-title')
  const close = (answer: string) => () => dialog.close(answer)
  render(
    html`<h2 id="confirm-title">${title}</h2>
      <p>${text}</p>
      <div class="dialog-buttons">
        <button type="button" class="button" autofocus @click=${close('')}>Cancel</button>
        <button type="button" class="button" data-kind="strong" @click=${close('yes')}>${verb}</button>
      </div>`,
    dialog
  )
  document.body.append(dialog)
  dialog.showModal()
  signal?.addEventListener('abort', close(''))
  return new Promise(resolve => {
    dialog.addEventListener('close', () => {
      resolve(dialog.returnValue === 'yes')
      dialog.remove()
    })
  })
}
