import type { ReactiveControllerHost } from 'lit'

import { showErrorNotice } from '../ui/actions.ts'
import { openRecordForm, type RecordContext } from './record-actions.ts'
import { loadRecord } from './resource.ts'

interface AddressedFormOptions {
  /** The id of the record that the address names, `new` for a new one, '' for none. */
  readonly item: () => string
  readonly scene: () => RecordContext
  /** Returns false if the operator may not change the record; null: not known yet. */
  readonly mayOpen: (item: string) => boolean | null
  /** The link to an item, or to the list. */
  readonly linkTo: (item: string) => string
}

/**
 * Opens the form of the record that the address names when the host is updated. When the form is closed, the
 * address is that of the list again.
 */
export function watchAddressedForm(
  host: ReactiveControllerHost & EventTarget,
  { item: currentItem, scene, mayOpen, linkTo }: AddressedFormOptions
): void {
  let opened = ''

  async function open(item: string): Promise<void> {
    const isCurrent = () => location.hash === linkTo(item)
    const leave = () => {
      if (isCurrent()) location.replace(linkTo(''))
    }
    if (mayOpen(item) === false) return leave()
    try {
      const { resource, station } = scene()
      const record = item === 'new' ? null : await loadRecord(resource, station, item)
      if (isCurrent()) await openRecordForm(scene(), record, { isNew: item === 'new', onClose: leave })
    } catch (error) {
      showErrorNotice(host, error)
      leave()
    }
  }

  host.addController({
    hostUpdated() {
      const item = currentItem()
      if (item === opened || (item !== '' && mayOpen(item) === null)) return
      opened = item
      if (item !== '') void open(item)
    }
  })
}
