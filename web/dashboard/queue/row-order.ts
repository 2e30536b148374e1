/** A row of the queue. */
export interface MovableRow {
  readonly id: string
}

/** Returns the list with one element at another index. */
export function moveElement<Element>(list: readonly Element[], from: number, to: number): Element[] {
  const element = list[from]
  return element === undefined ? [...list] : list.toSpliced(from, 1).toSpliced(to, 0, element)
}

/**
 * Translates a move within `rows` to one within `currentRows`: the row goes after the row that precedes it
 * at `to`. Returns null if the row no longer exists.
 */
export function rebaseMove(
  rows: readonly MovableRow[],
  from: number,
  to: number,
  currentRows: readonly MovableRow[]
): { readonly from: number; readonly to: number } | null {
  const row = rows[from]
  const previous = moveElement(rows, from, to)[to - 1]
  const index = currentRows.findIndex(({ id }) => id === row?.id)
  if (index === -1) return null
  const others = currentRows.toSpliced(index, 1)
  // Rows leave the queue at its head: a missing predecessor means the first position.
  return {
    from: index,
    to: previous === undefined ? 0 : others.findIndex(({ id }) => id === previous.id) + 1
  }
}

/**
 * Finds the index where a row is dropped after a drag by `dy` pixels: it passes another row when its edge
 * passes the middle of that row. `heights` are the heights of all rows, in order.
 */
export function findDropIndex(heights: readonly number[], from: number, dy: number): number {
  let end = 0
  const edges = heights.map(height => ({ top: end, bottom: (end += height), middle: end - height / 2 }))
  const { top = 0, bottom = 0 } = edges[from] ?? {}
  return edges.filter(({ middle }, index) =>
    index < from ? middle <= top + dy : index > from && middle < bottom + dy
  ).length
}
