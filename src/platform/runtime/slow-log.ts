import type { Logger } from './log.ts'

/** Reports work that took longer than the threshold. */
export interface SlowLog {
  /** In milliseconds; `Infinity` if nothing is logged. */
  readonly thresholdMs: number
  /** Logs a query, request or step if it took at least the threshold. */
  readonly note: (what: string, ms: number, details: () => Readonly<Record<string, unknown>>) => void
}

const periodMs = 10_000
/** Lines per period: an outage makes everything slow at once. */
const linesPerPeriod = 20

/** Opens the slow log. `thresholdMs` 0 turns it off. */
export function openSlowLog(log: Logger, thresholdMs: number): SlowLog {
  if (thresholdMs === 0) return { thresholdMs: Infinity, note: () => {} }
  let periodEndsAtMs = 0
  let lines = 0
  return {
    thresholdMs,
    note: (what, ms, details) => {
      if (ms < thresholdMs) return
      const nowMs = performance.now()
      if (nowMs >= periodEndsAtMs) {
        if (lines > linesPerPeriod) log.warn({ left_out: lines - linesPerPeriod }, 'slow log: lines left out')
        periodEndsAtMs = nowMs + periodMs
        lines = 0
      }
      lines++
      if (lines <= linesPerPeriod) log.warn({ ms: Math.round(ms), ...details() }, `slow ${what}`)
    }
  }
}
