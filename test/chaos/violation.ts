/** Something that must never happen and did. `stationId` is null where it concerns no single station. */
export interface Violation {
  readonly rule: string
  readonly stationId: number | null
  readonly detail: string
}

/** A time span in Unix milliseconds. Infinity as its end: it still goes on. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** Whether two spans have a moment in common. */
export const overlaps = (a: TimeSpan, b: TimeSpan) => a.fromMs <= b.toMs && b.fromMs <= a.toMs

/** How many milliseconds of a span lie in none of the others. */
export function uncoveredMs({ fromMs, toMs }: TimeSpan, others: readonly TimeSpan[]): number {
  let atMs = fromMs
  let uncovered = 0
  for (const other of others.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (other.toMs <= atMs || other.fromMs >= toMs) continue
    uncovered += Math.max(0, other.fromMs - atMs)
    atMs = Math.max(atMs, other.toMs)
  }
  return uncovered + Math.max(0, toMs - atMs)
}
