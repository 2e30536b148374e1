import { ApiError } from '../errors.ts'
import type { ApiRoute } from './route.ts'

/** What a plain request to the address of the WebSocket gets; an upgrade never comes here. */
const webSocket: ApiRoute = {
  method: 'GET',
  path: '/api/live/nowplaying/websocket',
  access: 'public',
  operation: {
    id: 'connect',
    tag: 'Now playing',
    summary: 'Every change as it happens, over WebSocket; a plain request is refused',
    answer: { type: 'object' },
    errors: [400]
  },
  handle: () => {
    throw new ApiError('invalid', 'This address speaks WebSocket.')
  }
}

export const liveRoutes = [webSocket]
