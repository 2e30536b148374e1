import type { Points } from './listener-series.ts'

/** Times, and how many there were. */
export type Columns = [number[], (number | null)[]]

const daySeconds = 86_400

/**
 * Points as a chart needs them. The count of a point is that at the end of its step: there it stands, and is
 * drawn back to the step's beginning. Where nobody counted there is nothing.
 */
export function columnsOf(points: Points, step: number): Columns {
  const columns: Columns = [[], []]
  const put = (at: number, total: number | null) => {
    columns[0].push(at)
    columns[1].push(total)
  }
  let end: number | null = null
  for (const { at, total } of points) {
    if (end !== null && at > end) put((end + at) / 2, null)
    if (end === null || at > end) put(at, total)
    end = at + step
    put(end, total)
  }
  return columns
}

/** The day that a chart shows, whatever is known of it: the one before the end of the last step. */
export function dayOf(points: Points, step: number, nowSeconds: number): [number, number] {
  const last = points.at(-1)
  const end = last === undefined ? nowSeconds : last.at + step
  return [end - daySeconds, end]
}
