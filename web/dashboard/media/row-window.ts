/** Indexes of rows, from `first` to before `end`. */
export interface RowRange {
  readonly first: number
  readonly end: number
}

interface Viewport {
  readonly scrollTop: number
  readonly height: number
  readonly rowHeight: number
  readonly total: number
}

/** Rows that are rendered above and below the visible ones. */
const overscan = 8

/** The rows to render in a list whose rows have the same height. */
export function computeRowWindow({ scrollTop, height, rowHeight, total }: Viewport): RowRange {
  const visible = Math.ceil(height / rowHeight) + 1
  const top = Math.max(0, Math.min(Math.floor(scrollTop / rowHeight), total - visible))
  return { first: Math.max(0, top - overscan), end: Math.min(total, top + visible + overscan) }
}

/** The numbers of the pages, from 0, that contain a range. */
export function listPagesOfRange({ first, end }: RowRange, pageSize: number): number[] {
  if (end <= first) return []
  const firstPage = Math.floor(first / pageSize)
  return Array.from(
    { length: Math.floor((end - 1) / pageSize) - firstPage + 1 },
    (_, index) => firstPage + index
  )
}

/** The scroll position that shows a row completely with the least movement. */
export function scrollTopToReveal(index: number, { scrollTop, height, rowHeight }: Viewport): number {
  const top = index * rowHeight
  if (top < scrollTop) return top
  return Math.max(scrollTop, top + rowHeight - height)
}
