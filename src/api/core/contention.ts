import { ApiError, codeOf, Overloaded } from '../../platform/runtime/errors.ts'
import type { HandledRoute, Handler } from './route.ts'

/** Postgres: deadlock, serialization failure, and a reference that was deleted or inserted meanwhile. */
const conflictCodes = new Set(['40P01', '40001', '23503'])
/** Postgres: a lock timeout. */
const lockTimeoutCode = '55P03'
const retryAfterSeconds = 5

/** The same route, with a 409 for a conflict with a concurrent write, and a 503 for a lock timeout. */
export function withContentionErrors<Route extends HandledRoute>(route: Route): Route {
  if (route.method === 'GET' && !route.changes) return route
  const variants = Object.entries(route.variants ?? {}).map(
    ([dialect, variant]) => [dialect, { ...variant, handle: nameContention(variant.handle) }] as const
  )
  return {
    ...route,
    handle: nameContention(route.handle),
    ...(route.variants && { variants: Object.fromEntries(variants) })
  }
}

const nameContention =
  (handle: Handler): Handler =>
  async (request, services) => {
    try {
      return await handle(request, services)
    } catch (error) {
      const code = codeOf(error)
      if (conflictCodes.has(code))
        throw new ApiError('conflict', 'Conflict with a concurrent change: try again.')
      if (code === lockTimeoutCode)
        throw new Overloaded(retryAfterSeconds, 'A concurrent change takes too long: try again later.')
      throw error
    }
  }
