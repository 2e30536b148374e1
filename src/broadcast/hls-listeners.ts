import type { HlsFetch } from './hls-fetch.ts'

/** Who listens to a station, by variant. A variant that everybody has left is not among them. */
export type Variants = ReadonlyMap<string, readonly string[]>

/** Who listens to HLS, by what was fetched lately. Instants are Unix milliseconds and never go back. */
export interface HlsListeners {
  readonly see: (fetch: HlsFetch, atMs: number) => void
  /** Forgets who has left. Gives the short names of stations where anybody came or left and nobody has taken it over. */
  readonly changedAt: (atMs: number) => string[]
  readonly variantsOf: (shortName: string) => Variants
  /** The changes of a station are taken over. */
  readonly settle: (shortName: string) => void
}

/**
 * Who has fetched within `windowMs` listens. Only so many listeners are known at once; who comes beyond them is not
 * seen.
 */
export function openHlsListeners(windowMs: number, listenersAtMost = 200_000): HlsListeners {
  /** By station and variant: when each listener fetched last, the longest ago first. */
  const stations = new Map<string, Map<string, Map<string, number>>>()
  const changed = new Set<string>()
  let known = 0

  return {
    see({ shortName, variant, identity }, atMs) {
      const listeners = stations.get(shortName)?.get(variant)
      if (listeners?.delete(identity)) {
        listeners.set(identity, atMs)
        return
      }
      if (known >= listenersAtMost) return
      known++
      changed.add(shortName)
      if (listeners) {
        listeners.set(identity, atMs)
        return
      }
      const variants = stations.get(shortName) ?? new Map<string, Map<string, number>>()
      stations.set(shortName, variants.set(variant, new Map([[identity, atMs]])))
    },
    changedAt(atMs) {
      for (const [shortName, variants] of stations) {
        for (const [variant, listeners] of variants) {
          const left = forget(listeners, atMs - windowMs)
          known -= left
          if (left > 0) changed.add(shortName)
          if (listeners.size === 0) variants.delete(variant)
        }
        if (variants.size === 0) stations.delete(shortName)
      }
      return [...changed]
    },
    variantsOf: shortName =>
      new Map([...(stations.get(shortName) ?? [])].map(([variant, seen]) => [variant, [...seen.keys()]])),
    settle: shortName => void changed.delete(shortName)
  }
}

/** Removes who was seen last before a time; gives how many. */
function forget(listeners: Map<string, number>, beforeMs: number): number {
  let left = 0
  for (const [identity, seenMs] of listeners) {
    if (seenMs >= beforeMs) break
    listeners.delete(identity)
    left++
  }
  return left
}
