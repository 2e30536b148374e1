import type { JsonSchema } from '../../fields/field.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { ApiRoute, Operation } from '../core/route.ts'

/*
 * The addresses of the live protocol, for what is not spoken there: the live protocol itself never comes here. They are
 * declared for preflights, for methods that are not allowed, and for the documentation.
 */

const query: Record<string, JsonSchema> = {
  cf_connect: { type: 'string', description: 'the subscribe message' },
  api_key: { type: 'string', description: 'a key for private stations' },
  delay: { type: 'number', minimum: 0, maximum: 60, description: 'hold changes back for so many seconds' }
}

const subscribe: JsonSchema = {
  type: 'object',
  properties: {
    subs: { type: 'object', additionalProperties: { type: ['object', 'null'] } },
    token: { type: 'string' }
  }
}

const live = (
  method: 'GET' | 'POST',
  path: string,
  operation: Omit<Operation, 'tag' | 'query'>,
  error: () => ApiError
): ApiRoute => ({
  method,
  path: `/api/live/nowplaying/${path}`,
  access: 'public',
  operation: { tag: 'Now playing', query, ...operation },
  handle: request => {
    throw request.method === 'HEAD' ? new ApiError('method-not-allowed') : error()
  }
})

const events = {
  answer: { type: 'string' },
  contentTypes: ['text/event-stream'],
  errors: [400, 403]
} as const
const unopened = () => new ApiError('invalid', 'This address only streams.')

export const liveRoutes = [
  live(
    'GET',
    'websocket',
    {
      id: 'connect',
      summary: 'Every change as it happens, over WebSocket; a plain request is refused',
      answer: { type: 'object' },
      errors: [400, 403, 429, 503]
    },
    () => new ApiError('invalid', 'This address accepts only WebSocket connections.')
  ),
  live(
    'GET',
    'sse',
    { id: 'listenToEvents', summary: 'Every change as it happens, as server-sent events', ...events },
    unopened
  ),
  live(
    'POST',
    'sse',
    {
      id: 'listenToEventsByPost',
      summary: 'The same, with the subscribe message in the body',
      body: subscribe,
      ...events,
      errors: [400, 403, 413]
    },
    unopened
  ),
  live(
    'POST',
    'http_stream',
    {
      id: 'listenToLines',
      summary: 'Every change as it happens, one line of JSON each',
      body: subscribe,
      answer: { type: 'object' },
      errors: [400, 403, 413, 429, 503]
    },
    unopened
  )
]
