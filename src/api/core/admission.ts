import type { Admitted, Request } from '../../http/route.ts'
import type { Dialect } from '../../model/station/dialect.ts'
import { groupOf } from '../../platform/metrics/http.ts'
import { ApiError, renderApiError } from '../../platform/runtime/errors.ts'
import type { Keys } from '../auth/keys.ts'
import { ignoredFieldsFor } from './ignored-fields.ts'
import type { Caller, HandledRoute } from './route.ts'
import type { ApiServices } from './services.ts'

interface AdmissionDeps {
  readonly services: ApiServices
  /** Finds the caller; undefined for public routes. Throws `ApiError` if the key does not allow the route. */
  readonly authorize: (request: Request, route: HandledRoute) => undefined | Promise<Caller>
  readonly keys: Pick<Keys, 'findDialect'>
}

/** What `serveRoutes` needs to know of the routes of the API and the pages. */
export function apiOptions(routes: readonly HandledRoute[], deps: AdmissionDeps) {
  const { API_DIALECT: installed } = deps.services.config
  return {
    admit: openAdmission(routes, deps),
    groupOf: ({ operation }: HandledRoute) => groupOf(operation?.tag),
    // For playouts that cannot set headers, and as AzuraCast does.
    takesKeyInQuery: ({ access }: HandledRoute, isSafe: boolean) =>
      access === 'playout key' || (installed === 'azuracast' && isSafe),
    trimsBelow: '/api/',
    renderError: (error: ApiError, path: string) =>
      renderApiError(error, { hasStatus: `${path}/`.startsWith('/api/v1/main/') })
  }
}

/**
 * Returns the function that decides who sends a request to one of these routes, and in which dialect: that of the key,
 * else that of the installation; pages of this server read the documented one.
 */
function openAdmission(routes: readonly HandledRoute[], { services, authorize, keys }: AdmissionDeps) {
  const { API_DIALECT: installed } = services.config
  const receivers = {
    documented: new Map(routes.map(route => [route, receiverOf(route, 'documented')])),
    azuracast: new Map(routes.map(route => [route, receiverOf(route, 'azuracast')]))
  } satisfies Record<Dialect, unknown>

  function admitCaller(
    request: Request,
    route: HandledRoute,
    caller: Caller | null,
    dialect: Dialect
  ): Admitted {
    if (route.onlyIn !== undefined && route.onlyIn !== dialect) throw new ApiError('method-not-allowed')
    return {
      ...receivers[dialect].get(route),
      handle: received => route.handle({ ...request, ...received, caller, dialect }, services)
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

const hasChoice = ({ isOwnPage }: Request, { hasDialects = false }: HandledRoute) => hasDialects && !isOwnPage

/** How the body of a route is read, and which of its fields are unknown. */
function receiverOf(route: HandledRoute, dialect: Dialect): Pick<Admitted, 'form' | 'nameIgnored'> {
  const { method, byteTypes, operation, azuracastBody, omitConstants } = route
  const takesFields = (method === 'POST' || method === 'PUT') && !byteTypes
  if (dialect === 'documented') return takesFields ? { nameIgnored: ignoredFieldsFor(operation?.body) } : {}
  const form = azuracastBody ?? operation?.body
  if (!takesFields) return { form }
  const nameIgnored = ignoredFieldsFor(form)
  return { form, nameIgnored: omitConstants ? body => nameIgnored(omitConstants(body)) : nameIgnored }
}
