/** A place among few; given up, it is the next one's. */
export interface Semaphore {
  /**
   * `take` is called once there is a place, which may be at once. Gives the function that gives it up, or the
   * wish.
   */
  readonly ask: (take: () => void) => () => void
}

/** So many may do something at the same time; others wait their turn. */
export function openSemaphore(count: number): Semaphore {
  const seated = new Set<() => void>()
  const waiting = new Set<() => void>()

  function fill(): void {
    for (const take of waiting) {
      if (seated.size >= count) return
      waiting.delete(take)
      seated.add(take)
      take()
    }
  }

  return {
    ask: taken => {
      const take = () => taken()
      waiting.add(take)
      fill()
      return () => {
        waiting.delete(take)
        seated.delete(take)
        fill()
      }
    }
  }
}
