import type { Course, Phase } from './course.ts'
import type { Transport } from './interface.ts'

/** What must be done. A connection that is opened replaces the one before, which is closed first. */
export type Effect =
  | { readonly type: 'open'; readonly connection: number; readonly way: Transport }
  | { readonly type: 'close' }

export interface Step {
  readonly course: Course
  readonly effects: readonly Effect[]
}

/** How a connection ended. `code`: of a WebSocket. */
export interface End {
  readonly code?: number
  readonly retryAfterMs?: number
}

/** A way that says nothing for so long is closed. */
const openingMs = 8_000
/** News come every 15 seconds at least. */
const silenceMs = 20_000
/** Pings come every 25 seconds, also where there is no such station. */
const pinglessMs = 60_000
/** A way that was open for less did not hold. */
const steadyMs = 5_000
const longestPauseMs = 15_000
const afterShutdownMs = 5_000

export const stay = (course: Course): Step => ({ course, effects: [] })

/** When there is something to do if nothing happens; Infinity if there never is. */
export function dueAtMs({ phase, isMissing, isDoubtful, newsAtMs }: Course): number {
  if (phase.type === 'over') return Infinity
  if (phase.type === 'waiting') return phase.untilMs
  if (phase.type === 'opening') return phase.sinceMs + openingMs
  return isMissing || isDoubtful
    ? phase.heardAtMs + pinglessMs
    : Math.max(newsAtMs ?? 0, phase.sinceMs) + silenceMs
}

/** Opens the first of these ways. */
export function open(course: Course, [way, ...left]: readonly Transport[], atMs: number): Step {
  if (way === undefined) return stay(course)
  const connection = course.connection + 1
  const phase: Phase = { type: 'opening', way, left, sinceMs: atMs }
  const aloneSinceMs = course.aloneSinceMs ?? atMs
  return {
    course: { ...course, connection, phase, base: null, aloneSinceMs },
    effects: [{ type: 'open', connection, way }]
  }
}

/** The connection is of no use any more: tries the next way, or waits and begins anew. */
export function lose(
  course: Course,
  atMs: number,
  chance: number,
  { code = 0, retryAfterMs = 0 }: End = {}
): Step {
  const { phase } = course
  if (phase.type === 'waiting' || phase.type === 'over') return stay(course)
  if (phase.type === 'opening' && phase.left.length > 0) return open(course, phase.left, atMs)
  const isShutdown = code === 3001 || code === 1001
  // Who is let in and thrown out at once has not been let in.
  const hasHeld = isShutdown || (phase.type === 'open' && atMs - phase.sinceMs >= steadyMs)
  const failures = hasHeld ? 0 : course.failures + 1
  const pauseMs = isShutdown ? afterShutdownMs : Math.min(longestPauseMs, 1_000 * 2 ** failures)
  const untilMs = atMs + Math.max(retryAfterMs, chance * pauseMs)
  const isGood = isShutdown || (hasHeld && atMs < dueAtMs(course))
  const order = phase.type === 'opening' ? course.ways : orderAfter(course.ways, phase.way, isGood)
  const aloneSinceMs = course.aloneSinceMs ?? atMs
  return {
    course: { ...course, failures, base: null, aloneSinceMs, phase: { type: 'waiting', untilMs, order } },
    effects: [{ type: 'close' }]
  }
}

/** What held goes first; what fell silent, or broke at once, last. Polling is never the first choice. */
function orderAfter(ways: readonly Transport[], way: Transport, isGood: boolean): readonly Transport[] {
  if (way === 'poll') return ways
  const others = ways.filter(each => each !== way)
  return isGood ? [way, ...others] : [...others, way]
}

/** The end, for good. */
export function end(course: Course, reason: 'closed' | 'refused'): Step {
  return { course: { ...course, phase: { type: 'over', reason } }, effects: [{ type: 'close' }] }
}
