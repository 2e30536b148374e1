import type { Course } from './course.ts'
import type { Reason, Status } from './interface.ts'

/** News come every 15 seconds at least. */
export const defaultStaleAfterMs = 20_000
/** Without a connection a document is believed in for so long. */
const aloneMs = 5_000
/** A first answer may take so long. */
const firstAnswerMs = 10_000
/** What has not been true for so long is not worth showing. */
const tooOldMs = 300_000

/** What may be said of what is known, at `atMs`. */
export function statusAt(
  course: Course,
  atMs: number
): { readonly status: Status; readonly reason: Reason | null } {
  const { phase, document, isMissing, newsAtMs } = course
  if (phase.type === 'over') return { status: 'offline', reason: phase.reason }
  if (isMissing) return { status: 'offline', reason: 'unknown' }
  const [staleAtMs, oldAtMs] = turns(course)
  if (document === null || newsAtMs === null) {
    const isLost = course.failures > 0 || atMs >= staleAtMs
    return isLost ? { status: 'offline', reason: 'unreachable' } : { status: 'connecting', reason: null }
  }
  if (atMs >= oldAtMs) return { status: 'offline', reason: 'unreachable' }
  return { status: atMs >= staleAtMs ? 'stale' : 'live', reason: null }
}

/** When the status changes by itself: the first time, and the second. */
function turns(course: Course): [number, number] {
  const { newsAtMs, aloneSinceMs, isDoubtful, staleAfterMs, startedAtMs } = course
  if (newsAtMs === null) return [startedAtMs + firstAnswerMs, Infinity]
  const silentAtMs = newsAtMs + (isDoubtful ? 0 : staleAfterMs)
  return [
    aloneSinceMs === null ? silentAtMs : Math.min(silentAtMs, aloneSinceMs + aloneMs),
    newsAtMs + Math.max(tooOldMs, staleAfterMs)
  ]
}

/** The next time at which the status changes if nothing happens; Infinity if it does not. */
export function nextTurnMs(course: Course, atMs: number): number {
  if (course.phase.type === 'over' || course.isMissing) return Infinity
  return Math.min(...turns(course).filter(turnMs => turnMs > atMs))
}
