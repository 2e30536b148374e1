import type { Points } from './listener-series.ts'

type Cells = (number | null)[]
/** Times, the most, the fewest, and how many at the end of each step. */
export type Columns = [number[], Cells, Cells, Cells]

const daySeconds = 86_400

/**
 * Points as a chart needs them. What a point tells lies between its time and the next step, and is drawn there: it stands at
 * the end of its step and is valid back to the one before it. Where nobody counted there is nothing.
 */
export function columnsOf(points: Points, step: number): Columns {
  const columns: Columns = [[], [], [], []]
  const put = (at: number, ...cells: readonly (number | null)[]) => {
    columns[0].push(at)
    columns[1].push(cells[0] ?? null)
    columns[2].push(cells[1] ?? null)
    columns[3].push(cells[2] ?? null)
  }
  let end: number | null = null
  for (const { at, total, most, fewest } of points) {
    if (end !== null && at > end) put((end + at) / 2)
    if (end === null || at > end) put(at, most, fewest, total)
    end = at + step
    put(end, most, fewest, total)
  }
  return columns
}

/** The day that a chart shows, whatever is known of it: the one before the end of the last step. */
export function dayOf(points: Points, step: number, nowSeconds: number): [number, number] {
  const last = points.at(-1)
  const end = last === undefined ? nowSeconds : last.at + step
  return [end - daySeconds, end]
}
