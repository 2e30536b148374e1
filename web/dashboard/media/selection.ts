/** The selected rows by their keys, and the row from which Shift extends the selection. */
export interface MediaSelection {
  readonly keys: ReadonlySet<string>
  readonly anchor: number
}

export const noSelection: MediaSelection = { keys: new Set(), anchor: 0 }

/** Selects one row only. */
export const selectOnly = (key: string, index: number): MediaSelection => ({
  keys: new Set([key]),
  anchor: index
})

/** Adds a row to the selection, or removes it. */
export function toggleRow({ keys }: MediaSelection, key: string, index: number): MediaSelection {
  const toggled = new Set(keys)
  if (!toggled.delete(key)) toggled.add(key)
  return { keys: toggled, anchor: index }
}

/** Removes the keys that are not among these. Returns the same selection if there are none. */
export function retainKnownKeys(selection: MediaSelection, known: ReadonlySet<string>): MediaSelection {
  const keys = new Set(Array.from(selection.keys).filter(key => known.has(key)))
  return keys.size === selection.keys.size ? selection : { ...selection, keys }
}

/** The first and the last index between the anchor and a row, in order. */
export const rangeFromAnchor = ({ anchor }: MediaSelection, index: number): readonly [number, number] => [
  Math.min(anchor, index),
  Math.max(anchor, index)
]

/** Replaces the selection by rows in a range from the anchor. The anchor stays. */
export const selectRange = ({ anchor }: MediaSelection, keys: Iterable<string>): MediaSelection => ({
  keys: new Set(keys),
  anchor
})

/** The row that has the focus after a key; null if the key does not move it. `pageRows` are visible at once. */
export function moveFocus(key: string, index: number, total: number, pageRows: number): number | null {
  const targets: Readonly<Record<string, number>> = {
    ArrowUp: index - 1,
    ArrowDown: index + 1,
    PageUp: index - pageRows,
    PageDown: index + pageRows,
    Home: 0,
    End: total - 1
  }
  const target = targets[key]
  return target === undefined || total === 0 ? null : Math.max(0, Math.min(total - 1, target))
}
