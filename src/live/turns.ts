/** Work that is done piece by piece, so that others get their turn in between. */
export interface Turns<Item> {
  /** Has the item worked on soon, after those that wait already; one that waits already keeps its place. */
  readonly add: (item: Item) => void
  readonly close: () => void
}

/** How long it may keep the event loop at a time; at least one item is worked on. */
const turnMs = 1

export function openTurns<Item>(work: (item: Item) => void): Turns<Item> {
  const waiting = new Set<Item>()
  let isScheduled = false

  function run(): void {
    isScheduled = false
    const until = performance.now() + turnMs
    for (const item of waiting) {
      waiting.delete(item)
      work(item)
      if (performance.now() >= until) break
    }
    if (waiting.size > 0) schedule()
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    setImmediate(run)
  }

  return {
    add: item => {
      waiting.add(item)
      schedule()
    },
    close: () => waiting.clear()
  }
}
