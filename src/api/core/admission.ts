import { timingSafeEqual } from 'node:crypto'

import { renderApiError } from '../../http/error-body.ts'
import type { AdmittedRequest, Reply, RoutedRequest } from '../../http/route.ts'
import { type Dialect, dialectNames } from '../../model/station/dialect.ts'
import type { LiveView } from '../../model/station/live-view.ts'
import { routeGroupOf } from '../../platform/metrics/http.ts'
import { openCache } from '../../platform/runtime/cache.ts'
import { ApiError, errorCodeOf, Overloaded, TooManyRequests } from '../../platform/runtime/errors.ts'
import type { Sql } from '../../stores/db/sql.ts'
import { hasPermission, maySeeStation } from '../auth/access.ts'
import { type ApiKey, callerRateLimitName, type KeyChecker } from '../auth/key-checker.ts'
import { hashPlayoutKey } from '../playout/playout-caller.ts'
import { findStationByName } from './find-station.ts'
import { openIgnoredFieldFinder } from './ignored-fields.ts'
import type { Caller, HandledRoute, RouteVariant, PathStation } from './route.ts'
import type { ApiServices } from './services.ts'
import { openAddressTokenBuckets, openTokenBuckets } from './token-buckets.ts'

interface AdmissionOptions {
  /** Whether the query of a request that only reads may have the key, on all routes. */
  readonly takesKeysInQuery: boolean
}

/** What `serveRoutes` needs to know of the routes of the API and the pages. */
export function apiServeOptions(
  routes: readonly HandledRoute[],
  services: ApiServices,
  { takesKeysInQuery }: AdmissionOptions
) {
  return {
    admit: openRouteAdmission(routes, services),
    groupOf: ({ operation }: HandledRoute) => routeGroupOf(operation?.tag),
    // For playouts that cannot set headers.
    takesKeyInQuery: ({ access }: HandledRoute, isSafe: boolean) =>
      access === 'playout key' || (takesKeysInQuery && isSafe),
    trimsBelow: '/api/',
    renderError: (error: ApiError, path: string) =>
      renderApiError(error, { hasStatus: `${path}/`.startsWith('/api/v1/main/') })
  }
}

/**
 * Returns the function that decides who sends a request to one of these routes, and in which dialect: that of the key,
 * else that of the installation; pages of this server read the documented one.
 */
function openRouteAdmission(routes: readonly HandledRoute[], services: ApiServices) {
  const { keys, live, reads: sql } = services
  const authorize = openAuthorizer({ keys, live, sql })
  const { API_DIALECT: installed } = services.config
  const receivers = new Map(
    dialectNames.map(dialect => [
      dialect,
      new Map(routes.map(route => [route, receiverOf(route, route.variants?.[dialect])]))
    ])
  )

  function admitCaller(
    request: RoutedRequest,
    route: HandledRoute,
    caller: Caller | null,
    dialect: Dialect
  ): AdmittedRequest {
    if (route.onlyIn !== undefined && route.onlyIn !== dialect) throw new ApiError('method-not-allowed')
    const { handle } = route.variants?.[dialect] ?? route
    const isRead = route.method === 'GET' && !route.changes
    return {
      ...receivers.get(dialect)?.get(route),
      handle: received => {
        const handled = () => handle({ ...request, ...received, caller }, services)
        return isRead ? handled() : withContentionErrors(handled)
      }
    }
  }

  async function admitLater(
    request: RoutedRequest,
    route: HandledRoute,
    authorized: Promise<Caller> | undefined
  ): Promise<AdmittedRequest> {
    const caller = (await authorized) ?? null
    if (!hasChoice(request, route)) return admitCaller(request, route, caller, 'documented')
    const ofKey =
      authorized === undefined
        ? await keys.findDialect(request.apiKey, request.address)
        : caller?.key?.dialect
    return admitCaller(request, route, caller, ofKey ?? installed)
  }

  return (request: RoutedRequest, route: HandledRoute): AdmittedRequest | Promise<AdmittedRequest> => {
    const authorized = authorize(request, route)
    const isChosen = hasChoice(request, route)
    if (authorized === undefined && !(isChosen && request.apiKey !== ''))
      return admitCaller(request, route, null, isChosen ? installed : 'documented')
    return admitLater(request, route, authorized)
  }
}

const hasChoice = ({ isOwnPage }: RoutedRequest, { variants, onlyIn }: HandledRoute) =>
  (variants !== undefined || onlyIn !== undefined) && !isOwnPage

/** How the body of a route is read, and which of its fields are unknown. */
function receiverOf(
  { method, byteTypes, operation }: HandledRoute,
  variant: RouteVariant | undefined
): Pick<AdmittedRequest, 'form' | 'nameIgnored'> {
  const body = (variant?.operation ?? operation)?.body
  const form = variant?.takesRecordForm ? { form: body } : {}
  if ((method !== 'POST' && method !== 'PUT') || byteTypes) return form
  const nameIgnored = openIgnoredFieldFinder(body)
  const omitConstants = variant?.omitConstants
  return { ...form, nameIgnored: omitConstants ? sent => nameIgnored(omitConstants(sent)) : nameIgnored }
}

/** Postgres: deadlock, serialization failure, and a reference that was deleted or inserted meanwhile. */
const conflictCodes = new Set(['40P01', '40001', '23503'])
/** Postgres: a lock timeout. */
const lockTimeoutCode = '55P03'
const retryAfterSeconds = 5

/** Throws a 409 for a conflict with a concurrent write, and a 503 for a lock timeout. */
async function withContentionErrors(handled: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await handled()
  } catch (error) {
    const code = errorCodeOf(error)
    if (conflictCodes.has(code))
      throw new ApiError('conflict', 'Conflict with a concurrent change: try again.')
    if (code === lockTimeoutCode)
      throw new Overloaded(retryAfterSeconds, 'A concurrent change takes too long: try again later.')
    throw error
  }
}

const maxCachedPlayouts = 10_000

interface AuthorizerDeps {
  readonly keys: Pick<KeyChecker, 'findFrom'>
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
  const wrongPlayoutKeys = openAddressTokenBuckets(1, 60)
  /**
   * The hash of the last correct key by station, as the request names it. Such a key is checked even if the
   * address has no attempts left, since others may share the address.
   */
  const correctPlayoutKeys = openCache<string, string>({ maxEntries: maxCachedPlayouts })

  async function authorize(request: RoutedRequest, route: HandledRoute): Promise<Caller> {
    const { access } = route
    if (access === 'playout key') return getPlayout(request)
    const key = await getKey(request)
    const name = request.params['station_id']
    const station = name === undefined ? null : await getVisible(name, key)
    const isRead = route.method === 'GET' && !route.changes
    if (access !== 'any key' && access !== 'public') {
      const required = { permission: access, stationId: station?.id ?? null, isRead }
      if (!hasPermission(key, required)) throw new ApiError('forbidden')
    }
    const limit = route.writeLimit === 'reports' ? reports : writes
    const wait = isRead ? 0 : limit.take(callerRateLimitName(key))
    if (wait > 0) throw new TooManyRequests(wait)
    return { key, station }
  }

  async function getKey({ apiKey, address }: RoutedRequest): Promise<ApiKey> {
    if (apiKey === '') throw new ApiError('not-logged-in')
    const found = await keys.findFrom(apiKey, address)
    if (typeof found !== 'number') return found
    throw found === 0 ? new ApiError('not-logged-in') : new TooManyRequests(found)
  }

  /** Finds a station in memory, or in Postgres if it is new. Throws 404 if the key may not see it. */
  async function getVisible(name: string, key: ApiKey): Promise<PathStation> {
    const known = live.find(name)
    if (known) {
      const { stationId: id, isPublic, shortName } = known
      if (maySeeStation(key, { id, isPublic })) return { id, shortName }
    }
    // Also for a hidden station: otherwise the time of the response would reveal that it exists.
    const station = await findStationByName(sql, name)
    if (station === null || !maySeeStation(key, station)) throw new ApiError('not-found')
    return station
  }

  /** Throws the same for an unknown station and a wrong key, which must not reveal which stations exist. */
  async function getPlayout({ apiKey, params, address }: RoutedRequest): Promise<Caller> {
    const name = params['station_id'] ?? ''
    const hash = hashPlayoutKey(apiKey)
    const wait = correctPlayoutKeys.get(name) === hash ? 0 : wrongPlayoutKeys.peek(address)
    if (wait > 0) throw new TooManyRequests(wait)
    const station = await findStationByName(sql, name)
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

  return (request: RoutedRequest, route: HandledRoute): Promise<Caller> | undefined =>
    route.access === 'public' ? undefined : authorize(request, route)
}
