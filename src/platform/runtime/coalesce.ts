interface InFlight<Result> {
  readonly running: Promise<Result>
  /** The run that starts after it. */
  next: Promise<Result> | null
}

/** Coalesces concurrent runs of the same work, by key. */
export interface Coalescer<Key, Result> {
  /**
   * Runs `work`. Calls that come while a run is in flight share one more run, which starts after it and so
   * sees everything that happened before the call.
   */
  readonly run: (key: Key, work: () => Promise<Result>) => Promise<Result>
  /** The number of keys with a run in flight. */
  readonly size: () => number
}

export function openCoalescer<Key, Result>(): Coalescer<Key, Result> {
  const inFlight = new Map<Key, InFlight<Result>>()

  async function start(key: Key, work: () => Promise<Result>): Promise<Result> {
    const entry: InFlight<Result> = { running: work(), next: null }
    inFlight.set(key, entry)
    try {
      return await entry.running
    } finally {
      if (inFlight.get(key) === entry && entry.next === null) inFlight.delete(key)
    }
  }

  return {
    run: (key, work) => {
      const current = inFlight.get(key)
      if (!current) return start(key, work)
      const startNext = () => start(key, work)
      current.next ??= current.running.then(startNext, startNext)
      return current.next
    },
    size: () => inFlight.size
  }
}

/**
 * Returns a function that runs `work`, unless a run with the same key is in flight: then it returns that one, which may
 * not see what happened just before the call.
 */
export function openSingleFlight<Result>() {
  const inFlight = new Map<string, Promise<Result>>()
  return (work: () => Promise<Result>, key = ''): Promise<Result> => {
    const current = inFlight.get(key)
    if (current) return current
    const running = work().finally(() => inFlight.delete(key))
    inFlight.set(key, running)
    return running
  }
}
