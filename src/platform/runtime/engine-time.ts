/*
 * The time that all processes agree on: that of Postgres. The clock of a machine may be wrong or may be set
 * while a process runs. The engine time is the last answer of Postgres plus the time since then by the
 * monotonic clock.
 */

/** A query of the time: sent and answered by `performance.now()`, and the result in Unix milliseconds. */
interface TimeSample {
  readonly sentAtMs: number
  readonly answeredAtMs: number
  readonly timeMs: number
}

export type EngineTime = ReturnType<typeof openEngineTime>

/** An upper limit for the drift between two clocks: 0.2 milliseconds per second. */
const driftPerMs = 0.0002

/** Times are whole milliseconds, so even a sample without latency may be off by this. */
const roundingMs = 1

export function openEngineTime() {
  /** Unix milliseconds at `performance.now() === 0`, and the possible error when it was measured. */
  let known: { baseMs: number; errorMs: number; measuredAtMs: number } | null = null

  /** Whole Unix milliseconds. The time of this machine until the first sample. */
  const timeMs = () => (known === null ? Date.now() : Math.floor(known.baseMs + performance.now()))

  return {
    timeMs,
    /**
     * Adds a sample. Returns by how many milliseconds the time was off. It is corrected if that is more than
     * the possible error of both, or if the sample is more precise.
     */
    addSample: ({ sentAtMs, answeredAtMs, timeMs: serverMs }: TimeSample): number => {
      const errorMs = (answeredAtMs - sentAtMs) / 2 + roundingMs
      const next = { baseMs: serverMs - (sentAtMs + answeredAtMs) / 2, errorMs, measuredAtMs: answeredAtMs }
      if (known === null) {
        known = next
        return 0
      }
      const offMs = next.baseMs - known.baseMs
      const knownErrorMs = known.errorMs + (answeredAtMs - known.measuredAtMs) * driftPerMs
      if (errorMs <= knownErrorMs || Math.abs(offMs) > errorMs + knownErrorMs) known = next
      return offMs
    },
    /** By how many milliseconds the clock of this machine is ahead. */
    machineAheadMs: () => Date.now() - timeMs()
  }
}

/** The engine time of this process. */
export const engineTime = openEngineTime()

/** The engine time in Unix milliseconds. */
export const engineTimeMs = engineTime.timeMs
