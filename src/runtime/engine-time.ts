/*
 * The time that all processes agree on: that of Postgres. A machine's own clock may be wrong, and may be set while a process runs. So what
 * counts is what Postgres said last, and the milliseconds that have passed since by the process's own monotonic clock.
 */

/**
 * A question for the time: when it was sent and answered by `performance.now()`, and the answer in Unix
 * milliseconds.
 */
export interface TimeSample {
  readonly sentAtMs: number
  readonly answeredAtMs: number
  readonly timeMs: number
}

export interface EngineTime {
  /** Whole Unix milliseconds: the time of Postgres once it was asked, and until then that of this machine. */
  readonly timeMs: () => number
  /**
   * Takes a sample in. Returns by how many milliseconds the time was off by this sample: it is corrected if
   * that is more than the sample itself may be off, or if the sample is better than what is known.
   */
  readonly note: (sample: TimeSample) => number
  /** By how many milliseconds the clock of this machine is ahead. */
  readonly machineAheadMs: () => number
}

/** Clocks drift apart by less: a fifth of a millisecond a second is a bad one. */
const driftPerMs = 0.0002

/** Times come in whole milliseconds: by so much a sample may be off that was answered at once. */
const roundingMs = 1

export function openEngineTime(): EngineTime {
  /**
   * Unix milliseconds at `performance.now() === 0`, and how far that may have been off when it was measured;
   * null before.
   */
  let known: { baseMs: number; errorMs: number; measuredAtMs: number } | null = null

  const timeMs = () => (known === null ? Date.now() : Math.floor(known.baseMs + performance.now()))

  return {
    timeMs,
    note: ({ sentAtMs, answeredAtMs, timeMs: answerMs }) => {
      const errorMs = (answeredAtMs - sentAtMs) / 2 + roundingMs
      const next = { baseMs: answerMs - (sentAtMs + answeredAtMs) / 2, errorMs, measuredAtMs: answeredAtMs }
      if (known === null) {
        known = next
        return 0
      }
      const offMs = next.baseMs - known.baseMs
      const knownErrorMs = known.errorMs + (answeredAtMs - known.measuredAtMs) * driftPerMs
      if (errorMs <= knownErrorMs || Math.abs(offMs) > errorMs + knownErrorMs) known = next
      return offMs
    },
    machineAheadMs: () => Date.now() - timeMs()
  }
}

/** The time of this process. */
export const engineTime = openEngineTime()

/** The time of the engine in Unix milliseconds, as this process knows it. */
export const engineTimeMs = engineTime.timeMs
