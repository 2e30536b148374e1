import { type Logger, openLineLimit } from './log.ts'

/** Reports work that took longer than the threshold. */
export interface SlowLog {
  /** In milliseconds; `Infinity` if nothing is logged. */
  readonly thresholdMs: number
  /** Logs a query, request or step if it took at least the threshold. */
  readonly note: (what: string, ms: number, details: () => Readonly<Record<string, unknown>>) => void
}

/** Opens the slow log. `thresholdMs` 0 turns it off. */
export function openSlowLog(log: Logger, thresholdMs: number): SlowLog {
  if (thresholdMs === 0) return { thresholdMs: Infinity, note: () => {} }
  const mayLog = openLineLimit(leftOut => log.warn({ left_out: leftOut }, 'slow log: lines left out'))
  return {
    thresholdMs,
    note: (what, ms, details) => {
      if (ms < thresholdMs || !mayLog(performance.now())) return
      log.warn({ ms: Math.round(ms), ...details() }, `slow ${what}`)
    }
  }
}
