const hourMs = 3_600_000

/** The time of a schedule, in UTC: `930` at 09:30. */
function clockTime(ms: number): number {
  const date = new Date(ms)
  return date.getUTCHours() * 100 + date.getUTCMinutes()
}

/**
 * The times of a schedule in UTC that includes now and the next two hours. One from 0 to 2359 ends a minute before
 * midnight, and a test in that minute would fail.
 */
export function openWindow() {
  const nowMs = Date.now()
  return { start_time: clockTime(nowMs - hourMs), end_time: clockTime(nowMs + 2 * hourMs) }
}
