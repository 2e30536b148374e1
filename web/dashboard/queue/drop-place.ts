/**
 * The index that a row gets when it is let go after it was dragged by `dy` pixels: it passes another one when
 * its edge passes the middle of that. `heights` are those of all rows, in order.
 */
export function dropIndex(heights: readonly number[], from: number, dy: number): number {
  let end = 0
  const edges = heights.map(height => ({ top: end, bottom: (end += height), middle: end - height / 2 }))
  const { top = 0, bottom = 0 } = edges[from] ?? {}
  const isAhead = ({ middle }: { readonly middle: number }, index: number) =>
    index < from ? middle <= top + dy : index > from && middle < bottom + dy
  return edges.filter(isAhead).length
}

/** The list with one of its elements at another place. */
export function moved<Element>(list: readonly Element[], from: number, to: number): Element[] {
  const taken = list[from]
  return taken === undefined ? [...list] : list.toSpliced(from, 1).toSpliced(to, 0, taken)
}

interface Row {
  readonly id: string
}

/**
 * A move within the rows as they were when it began, as one within the rows of now: the row goes behind the
 * one it was let go behind. Null where it is not there any more.
 */
export function moveNow(
  then: readonly Row[],
  from: number,
  to: number,
  now: readonly Row[]
): { readonly from: number; readonly to: number } | null {
  const row = then[from]
  const ahead = moved(then, from, to)[to - 1]
  const index = now.findIndex(({ id }) => id === row?.id)
  if (index === -1) return null
  const others = now.toSpliced(index, 1)
  // What is gone was ahead of all that is left.
  return { from: index, to: ahead === undefined ? 0 : others.findIndex(({ id }) => id === ahead.id) + 1 }
}
