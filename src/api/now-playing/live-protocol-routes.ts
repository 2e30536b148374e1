import type { JsonSchema } from '../../model/fields/field.ts'
import { ApiError } from '../../platform/runtime/errors.ts'
import { apiRoute, type ApiOperation } from '../core/route.ts'

/*
 * The paths of the live protocol. Requests that use the protocol are handled in `src/live/transports`; these
 * routes serve CORS preflights, other methods, and the OpenAPI document.
 */

const query: Record<string, JsonSchema> = {
  cf_connect: { type: 'string', description: 'the subscribe message' },
  api_key: { type: 'string', description: 'an API key, for private stations' },
  token: { type: 'string', description: 'a listen token, for a private station' },
  delay: { type: 'number', minimum: 0, maximum: 60, description: 'delay changes by this many seconds' }
}

const subscribe: JsonSchema = {
  type: 'object',
  properties: {
    subs: { type: 'object', additionalProperties: { type: ['object', 'null'] } },
    token: { type: 'string', description: 'an API key or a listen token' }
  }
}

const live = (
  method: 'GET' | 'POST',
  path: string,
  operation: Omit<ApiOperation, 'tag' | 'query'>,
  message = 'This path accepts only requests of the live protocol.'
) =>
  apiRoute(method, `/api/live/nowplaying/${path}`, 'public', {
    tag: 'Now playing',
    query,
    ...operation,
    handle: request => {
      throw request.method === 'HEAD' ? new ApiError('method-not-allowed') : new ApiError('invalid', message)
    }
  })

const events = { response: { type: 'string' }, contentTypes: ['text/event-stream'] }

export const liveProtocolRoutes = [
  live(
    'GET',
    'websocket',
    {
      id: 'connect',
      summary: 'Subscribe to changes by WebSocket; other requests are refused',
      response: { type: 'object' },
      errors: [400, 403, 429, 503]
    },
    'This path accepts only WebSocket connections.'
  ),
  live('GET', 'sse', {
    id: 'listenToEvents',
    summary: 'Subscribe to changes by server-sent events',
    ...events,
    errors: [400, 403]
  }),
  live('POST', 'sse', {
    id: 'listenToEventsByPost',
    summary: 'Subscribe to changes by server-sent events, with the subscribe message in the body',
    body: subscribe,
    ...events,
    errors: [400, 403, 413]
  }),
  live('POST', 'http_stream', {
    id: 'listenToLines',
    summary: 'Subscribe to changes, each as a line of JSON',
    body: subscribe,
    response: { type: 'object' },
    errors: [400, 403, 413, 429, 503]
  })
]
