import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Calls `step` in slices of `sliceMs`, at least once per slice, until it returns false; `wake` starts again.
 * Requests, pings and timers run between slices. `step` must not throw.
 */
export function openTimeSlices(sliceMs: number, step: () => boolean) {
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

/** Returns a function that waits for the next tick of the event loop if `sliceMs` have passed since the last one. */
export function openEventLoopYield(sliceMs: number): () => Promise<void> {
  let deadline = performance.now() + sliceMs
  return async () => {
    if (performance.now() < deadline) return
    await nextTurn()
    deadline = performance.now() + sliceMs
  }
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

/** Calls `visit` with each item in order, in slices of `sliceMs`. Rejects with what `visit` throws. */
export async function visitInTimeSlices<Item>(
  sliceMs: number,
  items: readonly Item[],
  visit: (item: Item, index: number) => void
): Promise<void> {
  const entries = items.entries()
  await runInTimeSlices(sliceMs, () => {
    const { done, value } = entries.next()
    if (done) return false
    const [index, item] = value
    visit(item, index)
    return true
  })
}

/** Maps a list as `Array.map` does, in slices of `sliceMs`. */
export async function mapInTimeSlices<Item, Result>(
  sliceMs: number,
  items: readonly Item[],
  map: (item: Item, index: number) => Result
): Promise<Result[]> {
  const results: Result[] = []
  await visitInTimeSlices(sliceMs, items, (item, index) => void results.push(map(item, index)))
  return results
}

/** Calls `work` with each added item, in slices of `sliceMs`. `work` must not throw. */
export function openTimeSlicedQueue<Item>(sliceMs: number, work: (item: Item) => void) {
  const waiting = new Set<Item>()
  const slices = openTimeSlices(sliceMs, () => {
    const next = waiting.values().next()
    if (next.done) return false
    waiting.delete(next.value)
    work(next.value)
    return waiting.size > 0
  })
  return {
    /** Adds the item after those that wait; one that waits already keeps its place. */
    add: (item: Item) => {
      waiting.add(item)
      slices.wake()
    },
    close: () => {
      waiting.clear()
      slices.close()
    }
  }
}
