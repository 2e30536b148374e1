import type { AccessEntry } from './access-log.ts'
import { listenerIdentity } from './listener-identity.ts'

/** A listener got the playlist of one variant of a station's HLS, as players do again and again. */
export interface HlsFetch {
  readonly shortName: string
  /** The playlist's path below the station's folder, without `.m3u8`. */
  readonly variant: string
  readonly identity: string
}

/** The playlist of all variants: a player gets it once, and so does who only looks. */
const master = 'live'
const gotten: ReadonlySet<number> = new Set([200, 206, 304])
const place = /^\/hls\/([^/]{1,100})\/(.{1,255})\.m3u8$/

/** Reads `/hls/{short name}/{variant}.m3u8` out of a request; null if it is for anything else, or was not answered. */
export function hlsFetchOf({ address, method, target, status, agent }: AccessEntry): HlsFetch | null {
  if (method !== 'GET' || !gotten.has(status)) return null
  const [, shortName, variant] = place.exec(pathOf(target)) ?? []
  if (shortName === undefined || variant === undefined || variant === master) return null
  return { shortName, variant, identity: listenerIdentity(address, agent) }
}

/** The path of a request target, also of one that names the server as well; empty if it is none. */
function pathOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/]*/i, '').replace(/[?#].*$/, '')
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}
