import { ApiError, Overloaded } from '../../runtime/errors.ts'
import type { ApiRoute } from './route.ts'

/** Postgres: two waited for each other, a reference went away or came to be. */
const lostCodes: ReadonlySet<unknown> = new Set(['40P01', '40001', '23503'])
/** Postgres: a lock was waited for too long. */
const lockedCode = '55P03'
const retryAfterSeconds = 5

/**
 * The same route, where losing against another write is answered 409, and waiting too long for one 503:
 * nothing was changed, and a second try may do.
 */
export function answeringContention(route: ApiRoute): ApiRoute {
  if (route.method === 'GET') return route
  return {
    ...route,
    handle: async (request, services) => {
      try {
        return await route.handle(request, services)
      } catch (error) {
        const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null
        if (lostCodes.has(code))
          throw new ApiError('conflict', 'Somebody else is changing the same: try again.')
        if (code === lockedCode)
          throw new Overloaded(
            retryAfterSeconds,
            'Another change of the same takes too long: try again later.'
          )
        throw error
      }
    }
  }
}
