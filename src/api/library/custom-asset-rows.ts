import { openCache } from '../../platform/runtime/cache.ts'
import type { Sql } from '../../stores/db/sql.ts'

/** Pictures of the program that can be replaced, and the background of player pages, which has none. */
export const customAssetTypes = ['album_art', 'browser_icon', 'background'] as const
export type CustomAssetType = (typeof customAssetTypes)[number]

/** A picture that replaces one of the program. */
export interface CustomAsset {
  readonly bytes: Uint8Array
}

/** The pictures that were read last, by their hash. */
const cached = openCache<string, CustomAsset>({ maxEntries: 4 })

/** Reads a picture by its hash, or from memory. Returns null if it was replaced meanwhile. */
export async function readCustomAsset(sql: Sql, hash: string): Promise<CustomAsset | null> {
  const known = cached.get(hash)
  if (known) return known
  const [found] = await sql<CustomAsset[]>`
    select bytes from custom_assets where hash = ${hash} limit 1`
  if (!found) return null
  cached.set(hash, found)
  return found
}

/** The path of a picture; it changes with the picture. */
export const customAssetPath = (type: string, hash: string) => `/static/uploads/${type}-${hash.slice(0, 16)}`
