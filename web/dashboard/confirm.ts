import { html, render } from 'lit'

export interface Choice {
  readonly title: string
  readonly text: string
  /** What the button says that does it. */
  readonly verb: string
}

/** Asks before something is done that cannot be undone; once `signal` is aborted there is nothing to ask any more. */
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
