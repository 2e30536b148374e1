import { timingSafeEqual } from 'node:crypto'

import type { Sql } from '../../db/sql.ts'
import { ApiError, TooManyRequests } from '../../runtime/errors.ts'
import { findStation } from '../core/parse.ts'
import type { ApiRequest, Caller, Route, StationRow } from '../core/route.ts'
import type { LiveView } from '../core/services.ts'
import { openAddressBuckets, openTokenBuckets } from '../core/token-buckets.ts'
import { hashPlayoutKey } from '../playout/playout-caller.ts'
import { allows, maySeeStation } from './access.ts'
import type { Key, Keys } from './keys.ts'

/** Playouts whose right key is remembered. */
const rememberedPlayouts = 10_000

export interface AuthoriserParts {
  readonly keys: Pick<Keys, 'findFrom'>
  readonly live: Pick<LiveView, 'get'>
  readonly sql: Sql
}

/**
 * Lets a request through to its route, or throws: 403 without a valid key, 404 for a station that does not
 * exist or that the caller may not see, 403 without the right, 429 after too many refused keys from one
 * address or writes with one key. Undefined for public routes.
 */
export function openAuthorizer({ keys, live, sql }: AuthoriserParts) {
  const writes = openTokenBuckets(100, 500)
  /**
   * Wrong keys of playouts, by address: so many at once, and one more a second. One whose key was replaced
   * asks on and on.
   */
  const wrongPlayoutKeys = openAddressBuckets(1, 60)
  /**
   * The hash of the key that was right last, by the station as the request names it: it is checked even if
   * its address has no attempts left, which others may share.
   */
  const rightPlayoutKeys = new Map<string, string>()

  async function callerOf<Services>(request: ApiRequest, route: Route<Services>): Promise<Caller> {
    const { access } = route
    if (access === 'playout key') return playoutOf(request)
    const key = await validKey(request)
    const name = request.params['station_id']
    const station = name === undefined ? null : await visibleStation(name, key)
    const isRead = route.method === 'GET' && !route.changes
    if (access !== 'any key' && access !== 'public') {
      const need = { permission: access, stationId: station?.id ?? null, isRead }
      if (!allows(key, need)) throw new ApiError('forbidden')
    }
    const wait = isRead ? 0 : writes.take(String(key.id))
    if (wait > 0) throw new TooManyRequests(wait)
    return { key, station }
  }

  async function validKey({ apiKey, address }: ApiRequest): Promise<Key> {
    if (apiKey === '') throw new ApiError('not-logged-in')
    const found = await keys.findFrom(apiKey, address)
    if (typeof found !== 'number') return found
    throw found === 0 ? new ApiError('not-logged-in') : new TooManyRequests(found)
  }

  /**
   * From memory; a station that was made a moment ago, from Postgres. Throws 404 as well for one that the key
   * may not see.
   */
  async function visibleStation(name: string, key: Key): Promise<StationRow> {
    const state = live.get(name)
    if (state) {
      const { stationId: id, profile } = state
      if (maySeeStation(key, { id, isPublic: profile.isPublic })) return { id, shortName: profile.shortName }
    }
    // A hidden station is looked up as well, or the time it takes would tell it from one that does not exist.
    const station = await findStation(sql, name)
    if (station === null || !maySeeStation(key, station)) throw new ApiError('not-found')
    return station
  }

  /**
   * An unknown station and a wrong key are refused alike: callers without the key must not learn which
   * stations exist.
   */
  async function playoutOf({ apiKey, params, address }: ApiRequest): Promise<Caller> {
    const name = params['station_id'] ?? ''
    const hash = hashPlayoutKey(apiKey)
    const wait = rightPlayoutKeys.get(name) === hash ? 0 : wrongPlayoutKeys.peek(address)
    if (wait > 0) throw new TooManyRequests(wait)
    const station = await findStation(sql, name)
    const [row] = await sql<{ hash: string }[]>`
      select playout_key as hash from stations where id = ${station?.id ?? null}`
    const sent = Buffer.from(hash)
    const kept = Buffer.from(row?.hash ?? '')
    if (station !== null && kept.length === sent.length && timingSafeEqual(kept, sent)) {
      if (rightPlayoutKeys.size >= rememberedPlayouts) rightPlayoutKeys.clear()
      rightPlayoutKeys.set(name, hash)
      return { key: null, station }
    }
    if (rightPlayoutKeys.get(name) === hash) rightPlayoutKeys.delete(name)
    wrongPlayoutKeys.take(address)
    throw new ApiError('forbidden')
  }

  return <Services>(request: ApiRequest, route: Route<Services>): Promise<Caller> | undefined =>
    route.access === 'public' ? undefined : callerOf(request, route)
}
