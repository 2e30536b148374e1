/** Returns a function that loads a value at its first call. A failed load is repeated by the next call. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | null = null
  return () => {
    value ??= load().catch((error: unknown) => {
      value = null
      throw error
    })
    return value
  }
}
