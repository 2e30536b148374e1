import type { FileRow } from '../api/responses.ts'
import { dispatchListCommand } from './list-command.ts'
import type { ListSelection } from './list-selection.ts'
import { moveFocus } from './selection.ts'

interface ListKeyOptions {
  readonly list: EventTarget
  readonly selection: ListSelection
  readonly total: number
  /** The row that has the focus; undefined if it is not loaded. */
  readonly row: FileRow | undefined
  /** The number of rows that are visible at once. */
  readonly pageRows: number
  /** Called before the focus moves to another row. */
  readonly onMove: (index: number) => void
}

/** Handles a key in the list: the keys of a grid, and those of the commands of a row. */
export function handleListKey(event: KeyboardEvent, options: ListKeyOptions): void {
  const { list, selection, total, row, pageRows, onMove } = options
  const isCommand = event.ctrlKey || event.metaKey
  const target = moveFocus(event.key, selection.focused, total, pageRows)
  if (target !== null) {
    onMove(target)
    selection.moveTo(target, event)
  } else if (event.key === 'a' && isCommand) selection.selectAll()
  else if (isCommand || event.altKey) return
  else if (event.key === 'Escape' && selection.size > 0) selection.clear()
  else if (event.key === 'Delete') dispatchListCommand(list, { command: 'delete' })
  else if (row === undefined) return
  else if (event.key === ' ') selection.toggle(row, selection.focused)
  else if (event.key === 'Enter') dispatchListCommand(list, { command: 'open', row })
  else if (event.key === 'F2') dispatchListCommand(list, { command: 'rename', row })
  else if (event.key === 'p') dispatchListCommand(list, { command: 'preview', row })
  else return
  event.preventDefault()
}
