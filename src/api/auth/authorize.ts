import { timingSafeEqual } from 'node:crypto'

import type { Request } from '../../http/route.ts'
import type { LiveView } from '../../model/station/live-view.ts'
import { openCache } from '../../platform/runtime/cache.ts'
import { ApiError, TooManyRequests } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { findStation } from '../core/parse.ts'
import type { Caller, HandledRoute, StationRow } from '../core/route.ts'
import { openAddressBuckets, openTokenBuckets } from '../core/token-buckets.ts'
import { hashPlayoutKey } from '../playout/playout-caller.ts'
import { allows, maySeeStation } from './access.ts'
import { type ApiKey, callerName, type Keys } from './keys.ts'

const maxCachedPlayouts = 10_000

interface AuthorizerDeps {
  readonly keys: Pick<Keys, 'findFrom'>
  readonly live: Pick<LiveView, 'find'>
  readonly sql: Sql
}

/**
 * Returns a function that finds the caller of a request; undefined for public routes. It throws 403 without a
 * valid key, 404 if the station does not exist or the caller may not see it, 403 without the permission, and
 * 429 after too many refused keys from one address or writes with one key.
 */
export function openAuthorizer({ keys, live, sql }: AuthorizerDeps) {
  const writes = openTokenBuckets(100, 500)
  const reports = openTokenBuckets(10_000, 20_000)
  /** Wrong keys of playouts, by address. A playout whose key was replaced retries without end. */
  const wrongPlayoutKeys = openAddressBuckets(1, 60)
  /**
   * The hash of the last correct key by station, as the request names it. Such a key is checked even if the
   * address has no attempts left, since others may share the address.
   */
  const correctPlayoutKeys = openCache<string, string>({ maxEntries: maxCachedPlayouts })

  async function authorize(request: Request, route: HandledRoute): Promise<Caller> {
    const { access } = route
    if (access === 'playout key') return getPlayout(request)
    const key = await getKey(request)
    const name = request.params['station_id']
    const station = name === undefined ? null : await getVisible(name, key)
    const isRead = route.method === 'GET' && !route.changes
    if (access !== 'any key' && access !== 'public') {
      const required = { permission: access, stationId: station?.id ?? null, isRead }
      if (!allows(key, required)) throw new ApiError('forbidden')
    }
    const limit = route.writeLimit === 'reports' ? reports : writes
    const wait = isRead ? 0 : limit.take(callerName(key))
    if (wait > 0) throw new TooManyRequests(wait)
    return { key, station }
  }

  async function getKey({ apiKey, address }: Request): Promise<ApiKey> {
    if (apiKey === '') throw new ApiError('not-logged-in')
    const found = await keys.findFrom(apiKey, address)
    if (typeof found !== 'number') return found
    throw found === 0 ? new ApiError('not-logged-in') : new TooManyRequests(found)
  }

  /** Finds a station in memory, or in Postgres if it is new. Throws 404 if the key may not see it. */
  async function getVisible(name: string, key: ApiKey): Promise<StationRow> {
    const known = live.find(name)
    if (known) {
      const { stationId: id, isPublic, shortName } = known
      if (maySeeStation(key, { id, isPublic })) return { id, shortName }
    }
    // Also for a hidden station: otherwise the time of the response would reveal that it exists.
    const station = await findStation(sql, name)
    if (station === null || !maySeeStation(key, station)) throw new ApiError('not-found')
    return station
  }

  /** Throws the same for an unknown station and a wrong key, which must not reveal which stations exist. */
  async function getPlayout({ apiKey, params, address }: Request): Promise<Caller> {
    const name = params['station_id'] ?? ''
    const hash = hashPlayoutKey(apiKey)
    const wait = correctPlayoutKeys.get(name) === hash ? 0 : wrongPlayoutKeys.peek(address)
    if (wait > 0) throw new TooManyRequests(wait)
    const station = await findStation(sql, name)
    const [row] = await sql<{ hash: string }[]>`
      select playout_key as hash from stations where id = ${station?.id ?? null}`
    const sent = Buffer.from(hash)
    const stored = Buffer.from(row?.hash ?? '')
    if (station !== null && stored.length === sent.length && timingSafeEqual(stored, sent)) {
      correctPlayoutKeys.set(name, hash)
      return { key: null, station }
    }
    if (correctPlayoutKeys.get(name) === hash) correctPlayoutKeys.delete(name)
    wrongPlayoutKeys.take(address)
    throw new ApiError('forbidden')
  }

  return (request: Request, route: HandledRoute): Promise<Caller> | undefined =>
    route.access === 'public' ? undefined : authorize(request, route)
}
