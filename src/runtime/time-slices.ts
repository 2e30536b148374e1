/** Work in slices of the event loop's time, so that requests, pings and timers run in between. */
export interface TimeSlices {
  /** Starts the work in the next slice, unless it is scheduled already. */
  readonly wake: () => void
  /** Stops: no further step runs. */
  readonly close: () => void
}

/**
 * Calls `step` again and again in slices of `sliceMs`, at least once per slice, until it returns false;
 * `wake` starts again. `step` must not throw.
 */
export function openTimeSlices(sliceMs: number, step: () => boolean): TimeSlices {
  let isScheduled = false
  let isClosed = false

  function run(): void {
    isScheduled = false
    const deadline = performance.now() + sliceMs
    do if (isClosed || !step()) return
    while (performance.now() < deadline)
    wake()
  }

  function wake(): void {
    if (isScheduled || isClosed) return
    isScheduled = true
    setImmediate(run)
  }

  return { wake, close: () => void (isClosed = true) }
}

/** Calls `step` in slices of `sliceMs` until it returns false. Rejects with what `step` throws. */
export async function runInTimeSlices(sliceMs: number, step: () => boolean): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    openTimeSlices(sliceMs, () => {
      try {
        if (step()) return true
        resolve()
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)))
      }
      return false
    }).wake()
  })
}

/** Items that wait to be processed in time slices. */
export interface SlicedQueue<Item> {
  /** Adds the item after those that wait; one that waits already keeps its place. */
  readonly add: (item: Item) => void
  readonly close: () => void
}

/** Calls `work` with each added item, in slices of `sliceMs`. `work` must not throw. */
export function openSlicedQueue<Item>(sliceMs: number, work: (item: Item) => void): SlicedQueue<Item> {
  const waiting = new Set<Item>()
  const slices = openTimeSlices(sliceMs, () => {
    const next = waiting.values().next()
    if (next.done) return false
    waiting.delete(next.value)
    work(next.value)
    return waiting.size > 0
  })
  return {
    add: item => {
      waiting.add(item)
      slices.wake()
    },
    close: () => {
      waiting.clear()
      slices.close()
    }
  }
}
