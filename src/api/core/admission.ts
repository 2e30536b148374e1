import type { Admitted, Request } from '../../http/route.ts'
import { type Dialect, dialects } from '../../model/station/dialect.ts'
import { groupOf } from '../../platform/metrics/http.ts'
import { ApiError, renderApiError } from '../../platform/runtime/errors.ts'
import type { Keys } from '../auth/keys.ts'
import { ignoredFieldsFor } from './ignored-fields.ts'
import type { Caller, HandledRoute, RouteVariant } from './route.ts'
import type { ApiServices } from './services.ts'

interface AdmissionDeps {
  readonly services: ApiServices
  /** Finds the caller; undefined for public routes. Throws `ApiError` if the key does not allow the route. */
  readonly authorize: (request: Request, route: HandledRoute) => undefined | Promise<Caller>
  readonly keys: Pick<Keys, 'findDialect'>
  /** Whether the query of a request that only reads may have the key, on all routes. */
  readonly takesKeysInQuery: boolean
}

/** What `serveRoutes` needs to know of the routes of the API and the pages. */
export function apiOptions(routes: readonly HandledRoute[], deps: AdmissionDeps) {
  return {
    admit: openRouteAdmission(routes, deps),
    groupOf: ({ operation }: HandledRoute) => groupOf(operation?.tag),
    // For playouts that cannot set headers.
    takesKeyInQuery: ({ access }: HandledRoute, isSafe: boolean) =>
      access === 'playout key' || (deps.takesKeysInQuery && isSafe),
    trimsBelow: '/api/',
    renderError: (error: ApiError, path: string) =>
      renderApiError(error, { hasStatus: `${path}/`.startsWith('/api/v1/main/') })
  }
}

/**
 * Returns the function that decides who sends a request to one of these routes, and in which dialect: that of the key,
 * else that of the installation; pages of this server read the documented one.
 */
function openRouteAdmission(routes: readonly HandledRoute[], { services, authorize, keys }: AdmissionDeps) {
  const { API_DIALECT: installed } = services.config
  const receivers = new Map(
    dialects.map(dialect => [
      dialect,
      new Map(routes.map(route => [route, receiverOf(route, route.variants?.[dialect])]))
    ])
  )

  function admitCaller(
    request: Request,
    route: HandledRoute,
    caller: Caller | null,
    dialect: Dialect
  ): Admitted {
    if (route.onlyIn !== undefined && route.onlyIn !== dialect) throw new ApiError('method-not-allowed')
    const { handle } = route.variants?.[dialect] ?? route
    return {
      ...receivers.get(dialect)?.get(route),
      handle: received => handle({ ...request, ...received, caller }, services)
    }
  }

  async function admitLater(
    request: Request,
    route: HandledRoute,
    authorized: Promise<Caller> | undefined
  ): Promise<Admitted> {
    const caller = (await authorized) ?? null
    if (!hasChoice(request, route)) return admitCaller(request, route, caller, 'documented')
    const ofKey =
      authorized === undefined
        ? await keys.findDialect(request.apiKey, request.address)
        : caller?.key?.dialect
    return admitCaller(request, route, caller, ofKey ?? installed)
  }

  return (request: Request, route: HandledRoute): Admitted | Promise<Admitted> => {
    const authorized = authorize(request, route)
    const isChosen = hasChoice(request, route)
    if (authorized === undefined && !(isChosen && request.apiKey !== ''))
      return admitCaller(request, route, null, isChosen ? installed : 'documented')
    return admitLater(request, route, authorized)
  }
}

const hasChoice = ({ isOwnPage }: Request, { variants, onlyIn }: HandledRoute) =>
  (variants !== undefined || onlyIn !== undefined) && !isOwnPage

/** How the body of a route is read, and which of its fields are unknown. */
function receiverOf(
  { method, byteTypes, operation }: HandledRoute,
  variant: RouteVariant | undefined
): Pick<Admitted, 'form' | 'nameIgnored'> {
  const body = (variant?.operation ?? operation)?.body
  const form = variant?.takesRecordForm ? { form: body } : {}
  if ((method !== 'POST' && method !== 'PUT') || byteTypes) return form
  const nameIgnored = ignoredFieldsFor(body)
  const omitConstants = variant?.omitConstants
  return { ...form, nameIgnored: omitConstants ? sent => nameIgnored(omitConstants(sent)) : nameIgnored }
}
