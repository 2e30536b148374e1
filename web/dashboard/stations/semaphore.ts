/** Opens a semaphore of `limit` slots; waiting callers are served in order. */
export function openSemaphore(limit: number) {
  const acquired = new Set<() => void>()
  const waiting = new Set<() => void>()

  function serve(): void {
    for (const caller of waiting) {
      if (acquired.size >= limit) return
      waiting.delete(caller)
      acquired.add(caller)
      caller()
    }
  }

  return {
    /**
     * Calls `onAcquired` once a slot is free, which may be immediately. Returns a function that releases the
     * slot or cancels the request; repeated calls do nothing.
     */
    acquire(onAcquired: () => void): () => void {
      const caller = () => onAcquired()
      waiting.add(caller)
      serve()
      return () => {
        waiting.delete(caller)
        acquired.delete(caller)
        serve()
      }
    }
  }
}
