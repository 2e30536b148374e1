import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import { ignoredFieldsFor } from '../api/core/ignored-fields.ts'
import { type ApiRequest, type Caller, formType, type Reply, type Route } from '../api/core/route.ts'
import { withDeadline } from '../runtime/deadline.ts'
import { ApiError } from '../runtime/errors.ts'
import type { Logger } from '../runtime/log.ts'
import { apiKeyOf } from './api-key.ts'
import {
  collectBody,
  cutAmbiguous,
  decodeText,
  abortedRequest,
  type IncomingBody,
  isChunked,
  isJsonType,
  parseJsonBody
} from './body.ts'
import { forwardedFor } from './client-address.ts'
import { defer, type Exchange, fail, sendReply, sendEmpty, whenSettled } from './exchange.ts'
import { corsLines, openCors, preflightHeaders, requestIdOf } from './headers.ts'
import type { InFlight } from './in-flight.ts'
import { compilePaths } from './paths.ts'

export interface ServeOptions<Services> {
  readonly services: Services
  /**
   * Tells who calls, and throws `ApiError` if their key does not allow the route. It is called before the
   * body is looked at (`body` is undefined). Without a promise for public routes, synchronous handlers are
   * answered in the same tick.
   */
  readonly authorise: (request: ApiRequest, route: Route<Services>) => undefined | Promise<Caller>
  /** The client's address, from the connection's and the header `X-Forwarded-For`. */
  readonly addressOf: (connection: string, forwarded: string) => string
  /** Origins that may read answers, or `*`. */
  readonly corsOrigins: readonly string[]
  readonly log: Logger
  /** Whether clients are asked to close their connections. */
  readonly isDraining?: () => boolean
  readonly underWay?: InFlight
  readonly maxBodyBytes?: number
  readonly bodyTimeoutMs?: number
  /** How long authorisation and handler may take together. */
  readonly handlerTimeoutMs?: number
}

/**
 * Answers every HTTP request of `app` that nothing else is registered for: those of `routes`, and all others
 * with an error. Order of checks: path 404, method 405, key 403, content type 415, size 413, body 400; then
 * the handler.
 */
export function serveRoutes<Services>(
  app: TemplatedApp,
  routes: readonly Route<Services>[],
  options: ServeOptions<Services>
): void {
  const { services, authorise, addressOf, log, isDraining = () => false, underWay = { answers: 0 } } = options
  const { maxBodyBytes = 1024 * 1024, bodyTimeoutMs = 15_000, handlerTimeoutMs = 15_000 } = options
  const match = compilePaths(routes)
  const cors = openCors(options.corsOrigins)
  const ignoredFields = new Map(
    routes
      .filter(({ method, byteTypes }) => (method === 'POST' || method === 'PUT') && !byteTypes)
      .map(route => [route, ignoredFieldsFor(route.operation?.body)])
  )

  app.any('/*', (res, req) => {
    if (cutAmbiguous(res, req)) return
    const method = req.getMethod().toUpperCase()
    const path = req.getUrl()
    const asked = {
      method,
      path,
      requestId: requestIdOf(req.getHeader('x-request-id')),
      cors: corsLines(cors.allowedFor(cors.vary === '' ? '' : req.getHeader('origin'))),
      vary: cors.vary,
      ifNoneMatch: req.getHeader('if-none-match'),
      acceptEncoding: req.getHeader('accept-encoding'),
      isChunked: isChunked(req)
    }
    const exchange: Exchange = {
      res,
      asked,
      log,
      isDraining,
      underWay,
      isOpen: true,
      isDeferred: false,
      ignoredFields: '',
      onGone: null,
      onSettled: null
    }
    // An exception that leaves this callback ends the process.
    try {
      answer(exchange, res, req, method, path)
    } catch (error) {
      fail(exchange, error)
    }
  })

  function answer(
    exchange: Exchange,
    res: HttpResponse,
    req: HttpRequest,
    method: string,
    path: string
  ): void {
    const found = match(path)
    if (found === null) throw new ApiError('not-found')
    if (method === 'OPTIONS') return sendEmpty(exchange, preflightHeaders)
    const route = found.methods.get(method === 'HEAD' ? 'GET' : method)
    if (route === undefined)
      return fail(exchange, new ApiError('method-not-allowed'), { headers: [['Allow', found.allow]] })
    const isKeyed = route.access !== 'public'
    const takesKeyInQuery = route.access === 'public' || route.access === 'playout key'
    const query = new URLSearchParams(req.getQuery() ?? '')
    // Players and playouts that cannot set headers send their key in the query.
    const apiKey = apiKeyOf(req) || (takesKeyInQuery ? (query.get('api_key') ?? '') : '')
    const request: ApiRequest = {
      method,
      path,
      params: found.params,
      query,
      body: undefined,
      apiKey,
      host: req.getHeader('host'),
      // Nobody asks for the address of who only reads what is public.
      address:
        isKeyed || apiKey !== '' || route.needsAddress
          ? addressOf(textOf(res.getRemoteAddressAsText()), forwardedFor(req))
          : '',
      caller: null,
      isOpen: () => exchange.isOpen,
      onSettled: callback => whenSettled(exchange, callback)
    }
    const body = bodyOf(res, req, method, route)
    const allowed = authorise(request, route)
    if (allowed === undefined && body === null) {
      const reply = route.handle(request, services)
      if (!(reply instanceof Promise)) return deliver(exchange, reply, isKeyed)
      return void finish(exchange, null, isKeyed, () => reply)
    }
    void finish(exchange, body, isKeyed, async () => {
      const caller = (await allowed) ?? null
      const parsed = body === null ? undefined : await readBody(body, route)
      exchange.ignoredFields = ignoredFields.get(route)?.(parsed) ?? ''
      // What has been answered by the deadline, or asked by a client that left, must not be done afterwards.
      if (!exchange.isOpen) throw abortedRequest()
      return route.handle({ ...request, caller, body: parsed }, services)
    })
  }

  /**
   * Starts reading a body, if the method has one: nobody may wait before that, or its first bytes are lost.
   */
  function bodyOf(res: HttpResponse, req: HttpRequest, method: string, route: Route<Services>): Body | null {
    if (method !== 'POST' && method !== 'PUT') return null
    const declaredBytes = Number(req.getHeader('content-length')) || 0
    if (declaredBytes === 0 && !isChunked(req)) return null
    const limits = { maxBytes: route.maxBodyBytes ?? maxBodyBytes, timeoutMs: bodyTimeoutMs }
    return {
      contentType: req.getHeader('content-type'),
      incoming: collectBody(res, declaredBytes, limits)
    }
  }

  /** Answers now, or when the reply has something to say. Throws what making the answer throws. */
  function deliver(exchange: Exchange, reply: Reply, isKeyed: boolean): void {
    if (!exchange.isOpen) return
    if (!reply.later) return sendReply(exchange, reply, isKeyed)
    defer(exchange)
    exchange.onGone = reply.later(work => {
      exchange.onGone = null
      try {
        const answered = work()
        if (answered instanceof Promise) void finish(exchange, null, isKeyed, () => answered)
        else deliver(exchange, answered, isKeyed)
      } catch (error) {
        fail(exchange, error)
      }
    })
  }

  /** Answers what `work` gives, before the deadline and while the client is there. Never rejects. */
  async function finish(
    exchange: Exchange,
    body: Body | null,
    isKeyed: boolean,
    work: () => Promise<Reply>
  ): Promise<void> {
    exchange.onGone = () => body?.incoming.cancel()
    defer(exchange)
    const waitMs = handlerTimeoutMs + (body === null ? 0 : bodyTimeoutMs)
    try {
      deliver(exchange, await withDeadline(waitMs, 'the answer', work), isKeyed)
    } catch (error) {
      fail(exchange, error, { close: body?.incoming.mustClose() ?? false })
    } finally {
      body?.incoming.cancel()
    }
  }
}

interface Body {
  readonly contentType: string
  readonly incoming: IncomingBody
}

async function readBody<Services>(
  { contentType, incoming }: Body,
  { textTypes = [], takesForm = false, byteTypes }: Route<Services>
): Promise<unknown> {
  const [named = ''] = contentType.toLowerCase().split(';')
  const type = named.trim()
  if (byteTypes) {
    if (byteTypes.includes(type)) return incoming.bytes
    throw new ApiError('wrong-media-type', `The body must be one of ${byteTypes.join(', ')}.`)
  }
  if (isJsonType(contentType)) return parseJsonBody(await incoming.bytes)
  if (textTypes.includes(type)) return decodeText(await incoming.bytes)
  if (takesForm && type === formType)
    return Object.fromEntries(new URLSearchParams(decodeText(await incoming.bytes)))
  throw new ApiError('wrong-media-type')
}

const textOf = (bytes: ArrayBuffer) => Buffer.from(bytes).toString()
