import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import { noRouteGroup } from '../platform/metrics/http.ts'
import { withDeadline } from '../platform/runtime/deadline.ts'
import { ApiError } from '../platform/runtime/errors.ts'
import { parseQuery } from '../platform/text/percent-encoding.ts'
import { isTracing, runInSpan } from '../platform/tracing/tracing.ts'
import { createAbortedError, closeIfAmbiguous, dropBody, hasChunkedBody } from './body.ts'
import { isForwardedRequest, readAddress, type ResolveAddress } from './client-address.ts'
import { assertSameOrigin, isFromOwnPage, readCredential, readQueryKey } from './credentials.ts'
import {
  deferResponse,
  describeRequest,
  type Exchange,
  type ServerContext,
  sendEmpty,
  sendError,
  sendReply,
  whenSettled
} from './exchange.ts'
import {
  corsHeaderLines,
  buildCorsPolicy,
  type HeaderList,
  preflightHeaders,
  chooseRequestId
} from './headers.ts'
import { type IncomingStream, openIncomingStream } from './incoming-stream.ts'
import { compileRoutePaths, removeTrailingSlashes, removeRepeatedSlashes } from './paths.ts'
import { parseCollectedBody, receiveBody, type CollectedBody } from './read-body.ts'
import type { AdmittedRequest, ReceivedRequest, Reply, RoutedRequest, Route } from './route.ts'
import type { OpenSpool } from './spool-file.ts'

export interface ServeOptions<R extends Route> extends Partial<Omit<ServerContext, 'log'>> {
  readonly log: ServerContext['log']
  /**
   * Decides who sends a request and how it is handled. Called before the body is read; throws `ApiError` if the caller
   * may not send it. If it returns no promise, synchronous handlers respond in the same tick.
   */
  readonly admit: (request: RoutedRequest, route: R) => AdmittedRequest | Promise<AdmittedRequest>
  readonly addressOf: ResolveAddress
  /** The group of a route, for metrics. */
  readonly groupOf?: (route: R) => string
  /** Whether a route that is not public takes a key in `?api_key=`. `isSafe`: the request only reads. */
  readonly takesKeyInQuery?: (route: R, isSafe: boolean) => boolean
  /** The beginning of paths that are redirected to the same one without a slash at its end. */
  readonly trimsBelow?: string
  /**
   * Handlers that the app has for paths of routes, by method and path: `GET /api/live/nowplaying/sse`. Here they get
   * requests with repeated slashes or one at the end.
   */
  readonly ownHandlers?: ReadonlyMap<string, RequestHandler>
  /** The name of the cookie with a session; without it there are no sessions. */
  readonly sessionCookie?: string
  /** Origins that may read responses, or `*`. */
  readonly corsOrigins: readonly string[]
  readonly maxBodyBytes?: number
  readonly bodyTimeoutMs?: number
  /** For bodies that arrive faster than their handlers read them. */
  readonly openSpool: OpenSpool
  /** For admission and handler together. */
  readonly handlerTimeoutMs?: number
}

/** A handler of uWebSockets.js. */
export type RequestHandler = (res: HttpResponse, req: HttpRequest) => void

/** What a request asks for. */
interface Target<R extends Route> {
  readonly route: R
  /** Without repeated slashes. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** Whether it only reads. */
  readonly isSafe: boolean
  readonly isKeyed: boolean
}

/**
 * Handles every HTTP request that no earlier handler of `app` takes, in stages, each of which may end it with an error:
 * find the route (404, 405), read the head, admit the caller (403), receive the body (415, 413, 408, 400), handle.
 */
export function serveRoutes<R extends Route>(
  app: TemplatedApp,
  routes: readonly R[],
  options: ServeOptions<R>
): void {
  const { admit, addressOf, log, openSpool, groupOf = () => noRouteGroup } = options
  const { isDraining = () => false, inFlight = { count: 0 } } = options
  const { sessionCookie = '', takesKeyInQuery = () => false, trimsBelow, ownHandlers } = options
  const server = { log, isDraining, inFlight, slowLog: options.slowLog, renderError: options.renderError }
  const { maxBodyBytes = 1024 * 1024, bodyTimeoutMs = 15_000, handlerTimeoutMs = 15_000 } = options
  const match = compileRoutePaths(routes)
  const groups = new Map(routes.map(route => [route, groupOf(route)]))
  const cors = buildCorsPolicy(options.corsOrigins)

  app.any('/*', (res, req) => {
    if (closeIfAmbiguous(res, req)) return
    const exchange: Exchange = {
      res,
      head: {
        method: req.getMethod().toUpperCase(),
        path: req.getUrl(),
        requestId: chooseRequestId(req.getHeader('x-request-id')),
        cors: corsHeaderLines(cors.allowedFor(cors.vary === '' ? '' : req.getHeader('origin'))),
        vary: cors.vary,
        ifNoneMatch: req.getHeader('if-none-match'),
        acceptEncoding: req.getHeader('accept-encoding'),
        isChunked: hasChunkedBody(req),
        isLast: req.getHeader('connection').length === closeLength,
        isForwarded: isForwardedRequest(req)
      },
      server,
      group: noRouteGroup,
      allow: '',
      startedAtMs: performance.now(),
      isOpen: true,
      isDeferred: false,
      body: null,
      pathHeaders: noHeaders,
      ignoredFields: '',
      onDisconnect: null,
      onSettled: null
    }
    // An exception that leaves this callback ends the process.
    try {
      const target = routeRequest(exchange, req)
      if (target !== null) handle(exchange, req, target)
    } catch (error) {
      exchange.body ??= dropBody(res, req)
      sendError(exchange, error)
    }
  })

  /** Removes a slash too many at the end of a path. */
  const trim = (path: string) =>
    trimsBelow !== undefined && path.startsWith(trimsBelow) ? removeTrailingSlashes(path) : path

  /** Returns null for a request that was answered or given to its own handler. */
  function routeRequest(exchange: Exchange, req: HttpRequest): Target<R> | null {
    const { method, path: sent } = exchange.head
    const asSent = match(sent)
    const path = asSent === null ? removeRepeatedSlashes(sent) : sent
    const exact = path === sent ? asSent : match(path)
    const trimmed = exact === null ? trim(path) : path
    const found = exact ?? match(trimmed)
    if (found === null) throw new ApiError('not-found')
    exchange.allow = found.allow
    const [{ responseHeaders } = {}] = found.methods.values()
    if (responseHeaders !== undefined) exchange.pathHeaders = Object.entries(responseHeaders)
    if (method === 'OPTIONS') {
      const own = [...found.methods.values()].flatMap(each => Object.entries(each.optionsHeaders ?? {}))
      sendEmpty(exchange, [...preflightHeaders, ...own])
      return null
    }
    const ownHandler = trimmed === sent ? undefined : ownHandlers?.get(`${method} ${trimmed}`)
    if (ownHandler !== undefined) {
      ownHandler(exchange.res, req)
      return null
    }
    const route = found.methods.get(method === 'HEAD' ? 'GET' : method)
    const isKeyed = route?.access !== 'public'
    const isSafe = (method === 'GET' || method === 'HEAD') && !route?.changes
    // Widgets and plugins read with repeated slashes. An empty id of an operator must not reach another record.
    const hasEmptyPart = removeTrailingSlashes(sent) !== removeTrailingSlashes(path)
    if (hasEmptyPart && route !== undefined && (isKeyed || !isSafe)) throw new ApiError('not-found')
    if (exact === null) {
      exchange.body = dropBody(exchange.res, req)
      const search = req.getQuery() ?? ''
      const location = `${trimmed}${search === '' ? '' : `?${search}`}`
      sendReply(exchange, { status: 308, headers: { Location: location } }, false)
      return null
    }
    if (route === undefined || (method === 'HEAD' && route.onlyIn !== undefined))
      throw new ApiError('method-not-allowed')
    exchange.group = groups.get(route) ?? noRouteGroup
    return { route, path, params: found.params, isSafe, isKeyed }
  }

  /** Reads what uWebSockets.js forgets once its handler returns. */
  function readRequest(exchange: Exchange, req: HttpRequest, target: Target<R>): RoutedRequest {
    const { route, path, params, isSafe, isKeyed } = target
    const query = parseQuery(req.getQuery() ?? '')
    const queryKey = takesKeyInQuery(route, isSafe) ? (query.get('api_key') ?? '') : ''
    const keyInQuery = isKeyed ? queryKey : readQueryKey(query)
    const apiKey = readCredential(req, { keyInQuery, sessionCookie, isSafe, isKeyed })
    const { isSameOriginOnly = false } = route
    if (isSameOriginOnly) assertSameOrigin(req)
    const needsAddress = isKeyed || apiKey !== '' || isSameOriginOnly || route.needsAddress
    return {
      method: exchange.head.method,
      path,
      params,
      query,
      headers: Object.fromEntries((route.headers ?? []).map(name => [name, req.getHeader(name)])),
      apiKey,
      host: req.getHeader('host'),
      address: needsAddress ? readAddress(exchange.res, req, addressOf) : '',
      userAgent: isSameOriginOnly ? req.getHeader('user-agent') : '',
      isOwnPage: isFromOwnPage(req),
      isOpen: () => exchange.isOpen,
      onSettled: callback => whenSettled(exchange, callback)
    }
  }

  function handle(exchange: Exchange, req: HttpRequest, target: Target<R>): void {
    const { route, isSafe, isKeyed } = target
    const { res } = exchange
    const request = readRequest(exchange, req, target)
    // What a key shows is not for others, whatever the route.
    const isPersonal = isKeyed || request.apiKey !== ''
    const span = isTracing() && !isSafe ? openSpan(route, req.getHeader('traceparent')) : null
    const run = (call: AdmittedRequest, received: ReceivedRequest) =>
      span === null ? call.handle(received) : span(async () => call.handle(received))
    // A client that sends slowly makes no slow request.
    const onEnd = () => void (exchange.startedAtMs = performance.now())
    const admitted = admit(request, route)
    // After what may throw: both must be ended.
    const limits = { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs, onEnd }
    const body = receiveBody(res, req, { request, route, limits })
    const stream = route.isStreamed ? openStream(res, req, onEnd) : null
    exchange.body = stream ?? body?.incoming ?? dropBody(res, req)
    if (stream !== null) {
      const nameIgnored = (names: string) => void (exchange.ignoredFields = names)
      return void finishStreamed(exchange, stream, async () =>
        run(await admitted, { body: undefined, stream: { ...stream, nameIgnored } })
      )
    }
    if (body === null && !(admitted instanceof Promise)) {
      const reply = run(admitted, withoutBody)
      if (!(reply instanceof Promise)) return deliver(exchange, reply, isPersonal)
      return void finish(exchange, null, isPersonal, () => reply)
    }
    void finish(exchange, body, isPersonal, async () => {
      const { form, nameIgnored, ...known } = await admitted
      const parsed = body === null ? undefined : await parseCollectedBody(body, route, form)
      exchange.ignoredFields = nameIgnored?.(parsed) ?? ''
      // A request that timed out or whose client disconnected must not be executed afterward.
      if (!exchange.isOpen) throw createAbortedError()
      return run(known, { body: parsed, stream: null })
    })
  }

  function openStream(res: HttpResponse, req: HttpRequest, onEnd: () => void): IncomingStream {
    const size = hasChunkedBody(req) ? null : Number(req.getHeader('content-length')) || 0
    return openIncomingStream(res, size, { openSpool, onEnd })
  }

  /** Like `finish`, for a handler that reads the body itself. */
  async function finishStreamed(
    exchange: Exchange,
    stream: IncomingStream,
    work: () => Promise<Reply>
  ): Promise<void> {
    exchange.onDisconnect = () => {
      stream.abort()
      log.info(describeRequest(exchange), 'client left before the response')
    }
    deferResponse(exchange)
    try {
      const working = withDeadline(streamedTimeoutMs, 'the response', work)
      deliver(exchange, await working.finally(() => stream.release()), true)
    } catch (error) {
      sendError(exchange, error)
    }
  }

  /** Sends a reply, immediately or later (`reply.later`). Rethrows what rendering throws. */
  function deliver(exchange: Exchange, reply: Reply, isPersonal: boolean): void {
    if (!exchange.isOpen) return
    if (!reply.later) return sendReply(exchange, reply, isPersonal)
    exchange.startedAtMs = null
    deferResponse(exchange)
    exchange.onDisconnect = reply.later(work => {
      exchange.onDisconnect = null
      try {
        const result = work()
        if (result instanceof Promise) void finish(exchange, null, isPersonal, () => result)
        else deliver(exchange, result, isPersonal)
      } catch (error) {
        sendError(exchange, error)
      }
    })
  }

  /** Sends the result of `work`, or an error at the deadline. Never rejects. */
  async function finish(
    exchange: Exchange,
    body: CollectedBody | null,
    isPersonal: boolean,
    work: () => Promise<Reply>
  ): Promise<void> {
    exchange.onDisconnect = () => body?.incoming.cancel()
    deferResponse(exchange)
    const timeoutMs = handlerTimeoutMs + (body === null ? 0 : bodyTimeoutMs)
    try {
      deliver(exchange, await withDeadline(timeoutMs, 'the response', work), isPersonal)
    } catch (error) {
      sendError(exchange, error)
    } finally {
      body?.incoming.cancel()
    }
  }
}

/** Returns a function that runs a handler in a span, below that of the client if it sent one. */
function openSpan({ method, path }: Route, traceparent: string) {
  const attributes = { 'http.request.method': method, 'http.route': path }
  const options = { kind: 'server', parent: traceparent, attributes } as const
  return (work: () => Promise<Reply>): Promise<Reply> =>
    runInSpan(`${method} ${path}`, options, async span => {
      const reply = await work()
      span?.set({ 'http.response.status_code': reply.status ?? 200 })
      return reply
    })
}

const withoutBody: ReceivedRequest = { body: undefined, stream: null }

const noHeaders: HeaderList = []

/** uWebSockets.js takes any value of the header `Connection` of this length for `close`. */
const closeLength = 5

/** The slowest upload. */
const streamedTimeoutMs = 24 * 3_600_000
