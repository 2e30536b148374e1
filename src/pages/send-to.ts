import type { Reply } from '../api/route.ts'

/**
 * Sends elsewhere. Places are relative: there may be a path in front of the server, and it is known under other names than
 * `BASE_URL`.
 */
export const sendTo = (place: string, query: URLSearchParams): Reply => ({
  status: 302,
  headers: {
    Location: query.size === 0 ? place : `${place}?${query.toString()}`,
    'Cache-Control': 'no-store'
  }
})
