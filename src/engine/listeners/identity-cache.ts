import { type LoadingCache, openCache } from '../../platform/runtime/cache.ts'
import type { SourceSessions } from './sessions.ts'

/** The connected identities of a source: the stored hash of each, and their open sessions. */
export interface KnownIdentities {
  /** See `CountedSource`. */
  readonly version: number
  readonly hashes: ReadonlyMap<string, string>
  readonly sessions: SourceSessions
}

/** Identities that this process has reported, by station and source, least recently reported first. */
export type IdentityCache = LoadingCache<string, KnownIdentities>

/** Opens the cache of at most 20,000 sources. */
export const openIdentityCache = (): IdentityCache => openCache({ maxEntries: 20_000 })
