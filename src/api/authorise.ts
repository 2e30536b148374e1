import type { Sql } from '../db/sql.ts'
import { ApiError, TooManyRequests } from '../errors.ts'
import { allows } from './access.ts'
import type { Key, Keys } from './keys.ts'
import { findStation } from './parse.ts'
import type { ApiRequest, Caller, Route, StationRow } from './route.ts'
import type { LiveView } from './services.ts'
import { openTokenBuckets } from './token-buckets.ts'

export interface AuthoriserParts {
  readonly keys: Keys
  readonly live: Pick<LiveView, 'get'>
  readonly sql: Sql
}

/**
 * Lets a request through to its route, or throws: 403 without a valid key, 404 for an unknown station, 403 without the
 * right, 429 after too many refused keys from one address or writes with one key. Undefined for public routes.
 */
export function openAuthoriser({ keys, live, sql }: AuthoriserParts) {
  const writes = openTokenBuckets(100, 500)

  async function callerOf<Services>(request: ApiRequest, route: Route<Services>): Promise<Caller> {
    const key = await validKey(request)
    const station = await namedStation(request.params['station_id'])
    const isRead = route.method === 'GET' && !route.changes
    const { access } = route
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

  /** From memory; a station that was made a moment ago, from Postgres. */
  async function namedStation(name: string | undefined): Promise<StationRow | null> {
    if (name === undefined) return null
    const state = live.get(name)
    return state ? { id: state.stationId, shortName: state.profile.shortName } : findStation(sql, name)
  }

  return <Services>(request: ApiRequest, route: Route<Services>): Promise<Caller> | undefined =>
    route.access === 'public' ? undefined : callerOf(request, route)
}
