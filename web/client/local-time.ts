/** What is less is rounding, or a clock that is being corrected: it must not add up. */
const leastJumpMs = 500

/**
 * A clock that only goes forward, in milliseconds from `Date.now()` on. It goes on while the machine sleeps, as
 * `performance.now()` does not, and does not go back when the clock is set, as `Date.now()` does. When the machine slept
 * or its clock was set forward, which look the same, `onJump` is called before the first time that is later by that.
 */
export function openLocalTime(
  onJump: (byMs: number) => void,
  date: () => number = () => Date.now(),
  steady: () => number = () => performance.now()
): () => number {
  let lead = date() - steady()
  let base = lead
  return () => {
    const steadyMs = steady()
    const nextLead = date() - steadyMs
    const jumpMs = nextLead - lead
    lead = nextLead
    if (jumpMs >= leastJumpMs) {
      base += jumpMs
      onJump(jumpMs)
    }
    return base + steadyMs
  }
}
