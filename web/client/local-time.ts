/**
 * A clock that only goes forward, in milliseconds from `Date.now()` on. It goes on while the machine sleeps, as
 * `performance.now()` does not, and does not go back when the clock is set, as `Date.now()` does.
 */
export function openLocalTime(
  date: () => number = () => Date.now(),
  steady: () => number = () => performance.now()
): () => number {
  let now = date()
  let lastDate = now
  let lastSteady = steady()
  return () => {
    const [nextDate, nextSteady] = [date(), steady()]
    now += Math.max(nextDate - lastDate, nextSteady - lastSteady, 0)
    lastDate = nextDate
    lastSteady = nextSteady
    return now
  }
}
