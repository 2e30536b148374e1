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
