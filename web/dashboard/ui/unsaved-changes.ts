import type { ReactiveControllerHost } from 'lit'

import { confirmAction } from './actions.ts'

/** The functions that say whether an element has changes that were not saved. */
const guards = new Set<() => boolean>()

/** Asks before the page or the view is left while `hasChanges` and the host is connected. */
export function guardUnsavedChanges(host: ReactiveControllerHost, hasChanges: () => boolean): void {
  host.addController({
    hostConnected: () => guards.add(hasChanges),
    hostDisconnected: () => guards.delete(hasChanges)
  })
}

export const hasUnsavedChanges = (): boolean => Array.from(guards).some(hasChanges => hasChanges())

/** Returns whether unsaved changes may be lost: there are none, or the operator confirms it. */
export const mayDiscardChanges = async (): Promise<boolean> =>
  !hasUnsavedChanges() || confirmAction(discardQuestion)

export const discardQuestion = {
  title: 'Discard the changes?',
  text: 'What you changed in the form has not been saved.',
  verb: 'Discard'
}

/** Dispatched on the document after another view was opened. */
export const viewChangedEvent = 'cuewire-view-changed'

addEventListener('beforeunload', event => {
  if (hasUnsavedChanges()) event.preventDefault()
})
