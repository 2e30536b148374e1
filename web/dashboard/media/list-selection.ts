import type { ReactiveControllerHost } from 'lit'

import type { FileRow } from '../api/responses.ts'
import { showErrorNotice } from '../ui/actions.ts'
import { rowKeyOf } from './library-row.ts'
import { dispatchListCommand } from './list-command.ts'
import {
  noSelection,
  rangeFromAnchor,
  retainKnownKeys,
  type MediaSelection,
  selectOnly,
  selectRange,
  toggleRow
} from './selection.ts'

interface ListSelectionOptions {
  /** Rows that are loaded; `total` is null before the first response. */
  readonly rows: {
    readonly total: number | null
    readonly all: readonly FileRow[] | null
    readonly get: (index: number) => FileRow | undefined
  }
  /** Loads the rows of a range. */
  readonly load: (range: readonly [number, number]) => Promise<readonly FileRow[]>
}

export type ListSelection = ReturnType<typeof openListSelection>

/** The selected rows of a list of which only a part is loaded, and the row that has the focus. */
export function openListSelection(
  host: ReactiveControllerHost & EventTarget,
  { rows, load }: ListSelectionOptions
) {
  let selection: MediaSelection = noSelection
  let focused = 0
  /** The row to select once it is loaded; null if there is none. */
  let pendingIndex: number | null = null
  /** The rows of which the selection was checked last. */
  let checkedRows: readonly FileRow[] | null = null
  /** Another one makes a range that is being loaded obsolete. */
  let rangeId = 0

  function select(next: MediaSelection): void {
    rangeId += 1
    pendingIndex = null
    selection = next
    host.requestUpdate()
    report()
  }

  function report(): void {
    const row = rows.get(selection.anchor)
    const isOnly = selection.keys.size === 1 && row !== undefined && selection.keys.has(rowKeyOf(row))
    dispatchListCommand(host, { command: 'selected', selection, only: isOnly ? row : null })
  }

  /** Loads the rows of a range before it is selected: a selection names files, not positions. */
  async function selectUnloaded(range: readonly [number, number]): Promise<void> {
    const id = (rangeId += 1)
    try {
      const loaded = await load(range)
      if (id === rangeId) select(selectRange(selection, loaded.map(rowKeyOf)))
    } catch (error) {
      showErrorNotice(host, error)
    }
  }

  function extendTo(index: number): void {
    const [first, last] = rangeFromAnchor(selection, index)
    const loaded = Array.from({ length: last - first + 1 }, (_, offset) => rows.get(first + offset))
    const known = loaded.filter(row => row !== undefined)
    if (known.length === loaded.length) select(selectRange(selection, known.map(rowKeyOf)))
    else void selectUnloaded([first, last])
  }

  return {
    /** The index of the row that has the focus. */
    get focused() {
      return focused
    },
    get size() {
      return selection.keys.size
    },
    has: (row: FileRow): boolean => selection.keys.has(rowKeyOf(row)),
    /** Forgets everything, because the list is another one. Nothing is reported. */
    reset(): void {
      focused = 0
      selection = noSelection
      pendingIndex = null
      rangeId += 1
    },
    /** Selects the row that the focus was moved to, when it has been loaded. */
    selectPending(): void {
      const row = pendingIndex === null ? undefined : rows.get(pendingIndex)
      if (pendingIndex !== null && row !== undefined) select(selectOnly(rowKeyOf(row), pendingIndex))
    },
    /** Forgets selected rows that are no longer in the list, if all of it is loaded. */
    dropMissing(): void {
      const { all } = rows
      if (selection.keys.size === 0 || all === null || all === checkedRows) return
      checkedRows = all
      const next = retainKnownKeys(selection, new Set(all.map(rowKeyOf)))
      if (next !== selection) select(next)
    },
    /** Dispatches the selection. */
    report,
    clear: (): void => select(noSelection),
    toggle: (row: FileRow, index: number): void => select(toggleRow(selection, rowKeyOf(row), index)),
    selectAll(): void {
      if (rows.total !== null && rows.total > 0) void selectUnloaded([0, rows.total - 1])
    },
    /** Selects by mouse: with Shift up to a row, with Ctrl the row as well, otherwise only the row. */
    click({ shiftKey, ctrlKey, metaKey }: MouseEvent, row: FileRow, index: number): void {
      focused = index
      if (shiftKey) return extendTo(index)
      const key = rowKeyOf(row)
      select(ctrlKey || metaKey ? toggleRow(selection, key, index) : selectOnly(key, index))
    },
    /** Moves the focus by keyboard. Without Ctrl the row is selected as well, once it is loaded. */
    moveTo(index: number, { shiftKey, ctrlKey, metaKey }: KeyboardEvent): void {
      focused = index
      if (shiftKey) extendTo(index)
      else if (!ctrlKey && !metaKey) pendingIndex = index
      host.requestUpdate()
    }
  }
}
