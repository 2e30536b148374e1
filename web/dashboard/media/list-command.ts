import type { FileRow } from '../api/responses.ts'
import type { SortColumn } from './library-query.ts'
import type { MediaSelection } from './selection.ts'

/** What an operator asks for in the list. `row` is the one that has the focus. */
export type ListCommand =
  | { readonly command: 'open' | 'rename' | 'preview'; readonly row: FileRow }
  | { readonly command: 'delete' }
  | { readonly command: 'sort'; readonly column: SortColumn }
  | { readonly command: 'selected'; readonly selection: MediaSelection; readonly only: FileRow | null }

/** Dispatched by the list; `detail` is the command. */
const listCommandEvent = 'cuewire-list-command'

export function dispatchListCommand(list: EventTarget, detail: ListCommand): void {
  list.dispatchEvent(new CustomEvent(listCommandEvent, { detail, bubbles: true }))
}
