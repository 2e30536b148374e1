/** No timer is so late that this would be taken for sleep, and a shorter sleep does not matter. */
const sleepMs = 500

/**
 * A clock that only goes forward, in milliseconds from `Date.now()` on. It goes on while the machine sleeps, as
 * `performance.now()` does not, and does not go back when the clock is set, as `Date.now()` does.
 */
export function openLocalTime(
  date: () => number = () => Date.now(),
  steady: () => number = () => performance.now()
): () => number {
  let lead = date() - steady()
  let base = lead
  return () => {
    const steadyMs = steady()
    const nextLead = date() - steadyMs
    // Anything less is rounding, or a clock that is being corrected: it must not add up.
    if (nextLead - lead >= sleepMs) base += nextLead - lead
    lead = nextLead
    return base + steadyMs
  }
}
