import { ApiError } from '../errors.ts'
import type { ApiRoute } from './route.ts'

/** Postgres: a lock was waited for too long, two waited for each other, a reference went away or came to be. */
const codes: ReadonlySet<unknown> = new Set(['55P03', '40P01', '40001', '23503'])

/**
 * The same route, where losing against another write is answered 409: nothing was changed, and a second try may do.
 */
export function answeringContention(route: ApiRoute): ApiRoute {
  if (route.method === 'GET') return route
  return {
    ...route,
    handle: async (request, services) => {
      try {
        return await route.handle(request, services)
      } catch (error) {
        const isLost = typeof error === 'object' && error !== null && 'code' in error && codes.has(error.code)
        if (!isLost) throw error
        throw new ApiError('conflict', 'Somebody else is changing the same: try again.')
      }
    }
  }
}
