import { html, nothing, render } from 'lit'

import { confirmAction } from '../ui/actions.ts'
import { focusHeading } from '../ui/focus.ts'
import { defineElements } from '../ui/light-element.ts'
import { discardQuestion, viewChangedEvent } from '../ui/unsaved-changes.ts'
import type { ApiRecord } from './form-values.ts'
import { type FieldSelection, RecordForm } from './record-form.ts'

export interface FormDialogOptions {
  readonly title: string
  readonly select: FieldSelection
  readonly record: ApiRecord | null
  readonly isNew: boolean
  readonly save: (body: ApiRecord) => Promise<void>
  /** Reads the record again, so that what someone else has changed is not overwritten without a question. */
  readonly load?: (() => Promise<ApiRecord>) | null
  readonly onClose?: (() => void) | undefined
}

/**
 * Shows a form in a dialog, which closes when the record is saved. Escape asks if there are changes. Resolves
 * when the dialog is open.
 */
export async function openFormDialog(options: FormDialogOptions): Promise<void> {
  const { title, select, record, isNew, save, load = null, onClose } = options
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog form-dialog'
  dialog.setAttribute('aria-labelledby', 'form-title')
  const cancel = async () => {
    const current = dialog.querySelector('record-form')
    const hasChanges = current instanceof RecordForm && current.form.hasChanges
    if (!hasChanges || (await confirmAction(discardQuestion))) dialog.close()
  }
  const saveAndClose = async (body: ApiRecord) => {
    await save(body)
    dialog.close()
  }
  render(
    html`<h2 id="form-title">${title}</h2>
      <record-form
        .select=${select}
        .record=${record}
        .isNew=${isNew}
        .saveLabel=${isNew ? 'Create' : 'Save'}
        .save=${saveAndClose}
        .load=${load}
        .cancel=${() => void cancel()}
      ></record-form>`,
    dialog
  )
  dialog.addEventListener('keydown', event => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    void cancel()
  })
  // A request to close other than by Escape, such as the back gesture of a phone.
  dialog.addEventListener('cancel', event => {
    event.preventDefault()
    void cancel()
  })
  const close = () => dialog.close()
  document.addEventListener(viewChangedEvent, close)
  dialog.addEventListener('close', () => {
    document.removeEventListener(viewChangedEvent, close)
    dialog.remove()
    onClose?.()
  })
  document.body.append(dialog)
  // A dialog focuses the first field that it has when it is opened.
  const form = dialog.querySelector('record-form')
  if (form instanceof RecordForm) await form.updateComplete
  dialog.showModal()
}

/** Shows a secret that the server returns only once. */
export function openSecretDialog(title: string, secret: string): void {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog'
  dialog.setAttribute('aria-labelledby', 'secret-title')
  const copy = () => navigator.clipboard.writeText(secret)
  render(
    html`<h2 id="secret-title">${title}</h2>
      <p>Copy it now: it is not shown again.</p>
      <input class="field" readonly aria-labelledby="secret-title" .value=${secret} />
      <div class="dialog-buttons">
        ${
          // Elsewhere browsers offer no clipboard.
          isSecureContext
            ? html`<button type="button" class="button" @click=${() => void copy()}>Copy</button>`
            : nothing
        }
        <button type="button" class="button" data-kind="strong" @click=${() => dialog.close()}>Done</button>
      </div>`,
    dialog
  )
  dialog.addEventListener('close', () => {
    dialog.remove()
    // The form that was focused before is closed.
    focusHeading()
  })
  document.body.append(dialog)
  dialog.showModal()
  dialog.querySelector('input')?.select()
}

defineElements({ 'record-form': RecordForm })
