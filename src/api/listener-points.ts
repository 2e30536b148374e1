import { ApiError } from '../errors.ts'

/** A point of a series: the count of a step of time at its end, and the most and the fewest within. */
export interface Point {
  /** Unix seconds of the first minute of the step. */
  readonly at: number
  readonly total: number
  readonly unique: number
  readonly most: number
  readonly fewest: number
}

/** The changes of one step of a series, joined; `index` counts steps from the first. */
export interface Changes extends Omit<Point, 'at'> {
  readonly index: number
}

/** Which points are asked for, in Unix minutes. */
export interface Span {
  readonly firstMinute: number
  readonly lastMinute: number
  readonly stepMinutes: number
}

export const pointsAtMost = 1_500

const dayMinutes = 1_440
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, dayMinutes]

/**
 * The span between two instants (Unix milliseconds), both included. `stepSeconds` null: the shortest handsome step that
 * needs no more points than there may be. Throws a 400 for a step that needs more.
 */
export function spanOf(startMs: number, endMs: number, stepSeconds: number | null): Span {
  const firstMinute = Math.floor(startMs / 60_000)
  const lastMinute = Math.floor(endMs / 60_000)
  const minutes = Math.max(0, lastMinute - firstMinute + 1)
  const least = minutes / pointsAtMost
  if (stepSeconds !== null && stepSeconds / 60 < least) {
    const message = `step must be at least ${Math.ceil(least) * 60}: there may be ${pointsAtMost} points.`
    throw ApiError.ofFields([{ field: 'step', code: 'out_of_range', message }])
  }
  const handsome = steps.find(step => step >= least) ?? Math.ceil(least / dayMinutes) * dayMinutes
  return { firstMinute, lastMinute, stepMinutes: stepSeconds === null ? handsome : stepSeconds / 60 }
}

/**
 * The points of a span. In a step without changes the count is what it was before. `before`: the count that the first
 * step finds; `changes` are in order.
 */
export function pointsOf(
  { firstMinute, lastMinute, stepMinutes }: Span,
  before: { readonly total: number; readonly unique: number },
  changes: readonly Changes[]
): Point[] {
  const byIndex = new Map(changes.map(change => [change.index, change]))
  let { total, unique } = before
  const points: Point[] = []
  for (let minute = firstMinute; minute <= lastMinute; minute += stepMinutes) {
    const { most, fewest, ...change } = byIndex.get(points.length) ?? {
      total,
      unique,
      most: total,
      fewest: total
    }
    total = change.total
    unique = change.unique
    points.push({ at: minute * 60, total, unique, most, fewest })
  }
  return points
}
