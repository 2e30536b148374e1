import type { HlsConnection } from '../../engine/listeners/hls-connections.ts'
import type { HlsFetch } from './access-log-line.ts'

/** The listeners of a station by variant and identity. Variants without listeners are missing. */
export type ListenersByVariant = ReadonlyMap<string, ReadonlyMap<string, SeenListener>>

/** One listener of a variant. */
export interface SeenListener {
  readonly address: string
  readonly agent: string
  /** The first fetch. */
  readonly sinceMs: number
  /** The last fetch. */
  readonly atMs: number
}

/** Keeps listeners until `windowMs` after their last fetch. Beyond `maxListeners`, new ones are ignored. */
export function openHlsListeners(windowMs: number, maxListeners = 200_000) {
  /** By station, variant and identity; those whose last fetch is oldest are first. */
  const stations = new Map<string, Map<string, Map<string, SeenListener>>>()
  const changed = new Set<string>()
  let count = 0

  return {
    recordFetch({ shortName, variant, identity, address, agent }: HlsFetch, atMs: number): void {
      const known = stations.get(shortName)?.get(variant)?.get(identity)
      if (!known) {
        if (count >= maxListeners) return
        count++
        changed.add(shortName)
      }
      const variants = stations.get(shortName) ?? new Map<string, Map<string, SeenListener>>()
      const listeners = variants.get(variant) ?? new Map<string, SeenListener>()
      // Deleted first, so that it becomes the last one.
      listeners.delete(identity)
      const seen = known ? { ...known, atMs } : { address, agent, sinceMs: atMs, atMs }
      stations.set(shortName, variants.set(variant, listeners.set(identity, seen)))
    },
    /** Removes expired listeners. Returns the stations that changed since they were marked as counted. */
    expire(atMs: number): string[] {
      for (const [shortName, variants] of stations) {
        for (const [variant, listeners] of variants) {
          for (const [identity, seen] of listeners) {
            if (seen.atMs >= atMs - windowMs) break
            listeners.delete(identity)
            count--
            changed.add(shortName)
          }
          if (listeners.size === 0) variants.delete(variant)
        }
        if (variants.size === 0) stations.delete(shortName)
      }
      return [...changed]
    },
    /** The result changes with the next fetch. */
    listVariants: (shortName: string): ListenersByVariant => stations.get(shortName) ?? new Map(),
    /** The stations that have listeners. */
    listStations: (): string[] => [...stations.keys()],
    /** The listeners of a station, at most `limit`. */
    listConnections: (shortName: string, nowMs: number, limit: number): HlsConnection[] =>
      [...(stations.get(shortName) ?? [])]
        .flatMap(([variant, listeners]) =>
          Array.from(listeners.values(), ({ address, agent, sinceMs }) => {
            const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1_000))
            return { address, userAgent: agent, variant, seconds }
          })
        )
        .slice(0, limit),
    markCounted: (shortName: string): void => void changed.delete(shortName)
  }
}
