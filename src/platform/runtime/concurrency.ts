/**
 * Calls `work` for items in order, at most `limit` at a time. Rejects between two items once `signal` is
 * aborted.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<unknown>,
  signal?: AbortSignal
): Promise<void> {
  const next = items.values()
  const run = async () => {
    for (const item of next) {
      signal?.throwIfAborted()
      await work(item)
    }
  }
  await Promise.all(Array.from({ length: limit }, run))
}
