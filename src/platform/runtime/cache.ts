export interface CacheOptions {
  /** The entries that were stored first are evicted above this number. */
  readonly maxEntries: number
  /**
   * How long a value is used after it was stored, also as a function of how long it took to load; by default until it
   * is evicted.
   */
  readonly ttlMs?: number | ((loadedInMs: number) => number)
}

/** Values by key, bounded in number and age. */
export interface LoadingCache<Key, Value> {
  /** Returns undefined for a value that is missing or expired. */
  readonly get: (key: Key) => Value | undefined
  readonly set: (key: Key, value: Value) => void
  /** Returns the value, or loads it, once for all callers meanwhile. A failed load is repeated by the next call. */
  readonly load: (key: Key, load: () => Promise<Value>) => Promise<Value>
  /** Removes a value. One that is being loaded is not stored, and the next call loads it again. */
  readonly delete: (key: Key) => void
  readonly deleteWhere: (matches: (value: Value) => boolean) => void
}

export function openCache<Key, Value>({
  maxEntries,
  ttlMs = Infinity
}: CacheOptions): LoadingCache<Key, Value> {
  /** In the order in which they were stored. */
  const entries = new Map<Key, { readonly value: Value; readonly expiresAtMs: number }>()
  const loads = new Map<Key, Promise<Value>>()

  function find(key: Key) {
    const entry = entries.get(key)
    return entry === undefined || performance.now() < entry.expiresAtMs ? entry : undefined
  }

  function store(key: Key, value: Value, loadedInMs: number): void {
    entries.delete(key)
    const ageMs = typeof ttlMs === 'number' ? ttlMs : ttlMs(loadedInMs)
    const nowMs = performance.now()
    entries.set(key, { value, expiresAtMs: nowMs + ageMs })
    for (const [oldest, { expiresAtMs }] of entries) {
      if (entries.size <= maxEntries && nowMs < expiresAtMs) return
      entries.delete(oldest)
    }
  }

  function start(key: Key, load: () => Promise<Value>): Promise<Value> {
    const startMs = performance.now()
    const isCurrent = () => loads.get(key) === loading
    const loading = load()
      .then(value => {
        if (isCurrent()) store(key, value, performance.now() - startMs)
        return value
      })
      .finally(() => {
        if (isCurrent()) loads.delete(key)
      })
    loads.set(key, loading)
    return loading
  }

  return {
    get: key => find(key)?.value,
    set: (key, value) => store(key, value, 0),
    load: async (key, load) => {
      const entry = find(key)
      return entry ? entry.value : (loads.get(key) ?? start(key, load))
    },
    delete: key => {
      entries.delete(key)
      loads.delete(key)
    },
    deleteWhere: matches => {
      for (const [key, { value }] of entries) if (matches(value)) entries.delete(key)
    }
  }
}

/** Returns a function that loads a value at its first call. A failed load is repeated by the next call. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  const cache = openCache<'value', Value>({ maxEntries: 1 })
  return () => cache.load('value', load)
}
