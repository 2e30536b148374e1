const second = 1_000
const minute = 60 * second

/** How often a server is asked while something goes on there; while nothing does; and after minutes of nothing. */
export const busyPeriodMs = 5 * second
const idlePeriodMs = 15 * second
const restPeriodMs = 30 * second
const restAfterMs = 5 * minute
/** The longest pause after failures. */
const longestPauseMs = minute

/** From then on operators are told that a server does not answer. */
export const patienceMs = 5 * minute
/** For so long the last good answer is taken to be true still. */
export const trustMs = 10 * minute

/** When a server is asked again that answered, and since when nobody listens there; `chance` is from 0 to 1. */
export function afterAnswer(
  startedAtMs: number,
  { isBusy, idleSinceMs }: { readonly isBusy: boolean; readonly idleSinceMs: number | null },
  chance: number
): { dueAtMs: number; idleSinceMs: number | null } {
  if (isBusy) return { dueAtMs: startedAtMs + jittered(busyPeriodMs, chance), idleSinceMs: null }
  const sinceMs = idleSinceMs ?? startedAtMs
  const periodMs = startedAtMs - sinceMs < restAfterMs ? idlePeriodMs : restPeriodMs
  return { dueAtMs: startedAtMs + jittered(periodMs, chance), idleSinceMs: sinceMs }
}

/** When a server is asked again that has failed so many times in a row. */
export function afterFailure(startedAtMs: number, failures: number, chance: number): number {
  const pauseMs = Math.min(longestPauseMs, busyPeriodMs * 2 ** (failures - 1))
  return startedAtMs + jittered(pauseMs, chance)
}

const jittered = (ms: number, chance: number) => Math.round(ms * (0.9 + chance * 0.2))
