/** A rule that was violated. `stationId` is null if the violation does not concern one station. */
export interface Violation {
  readonly rule: string
  readonly stationId: number | null
  readonly detail: string
}

/** A time span in Unix milliseconds; `toMs` is Infinity while it lasts. */
export interface TimeSpan {
  readonly fromMs: number
  readonly toMs: number
}

/** Whether two spans overlap. */
export const overlaps = (a: TimeSpan, b: TimeSpan) => a.fromMs <= b.toMs && b.fromMs <= a.toMs

/** The milliseconds of a span that are not covered by others. */
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
