/** Stands in for a length that is not known. */
export const unknownDurationMs = 180_000

/** How long a track holds the air: its length, at least a second, three minutes if unknown. Milliseconds. */
export function airtimeMs(durationMs: number): number {
  return durationMs === 0 ? unknownDurationMs : Math.max(1_000, durationMs)
}

export interface Timing {
  /** When the row is handed over: the expected start of the one before it. */
  readonly cuedAtMs: number
  /** The expected start on air. */
  readonly playsAtMs: number
}

/** What holds the air before the first row. */
export interface Running {
  readonly startedAtMs: number
  /** When the first row begins. */
  readonly endsAtMs: number
}

/** Expected times of rows played back to back behind what runs now. */
export function estimate(running: Running, durationsMs: readonly number[]): Timing[] {
  let { startedAtMs: cuedAtMs, endsAtMs: playsAtMs } = running
  return durationsMs.map(durationMs => {
    const timing = { cuedAtMs, playsAtMs }
    cuedAtMs = playsAtMs
    playsAtMs += airtimeMs(durationMs)
    return timing
  })
}
