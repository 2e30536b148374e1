/** Does work for items in order, for at most `count` at a time. Rejects between two items once `signal` is aborted. */
export async function inLanes<Item>(
  items: readonly Item[],
  count: number,
  work: (item: Item) => Promise<unknown>,
  signal?: AbortSignal
): Promise<void> {
  const next = items.values()
  const lane = async () => {
    for (const item of next) {
      signal?.throwIfAborted()
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: count }, lane))
}
