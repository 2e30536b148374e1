import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import { ignoredFieldsFor } from '../api/core/ignored-fields.ts'
import { type ApiRequest, type Caller, type Reply, type Route } from '../api/core/route.ts'
import { groupOf, noGroup } from '../metrics/http.ts'
import { withDeadline } from '../runtime/deadline.ts'
import { ApiError } from '../runtime/errors.ts'
import { parseQuery } from '../runtime/percent-encoding.ts'
import type { Dialect } from '../station/dialect.ts'
import { isTracing, traced } from '../tracing/tracing.ts'
import type { OpenSpool } from './body-buffer.ts'
import { abortedError, closeAmbiguous, collectBody, dropBody, isChunked } from './body.ts'
import { readForwardedFor, type ResolveAddress } from './client-address.ts'
import { assertSameOrigin, isOwnPage, readCredential, readQueryKey } from './credentials.ts'
import {
  defer,
  describeRequest,
  type Exchange,
  type ServerContext,
  sendEmpty,
  sendError,
  sendReply,
  whenSettled
} from './exchange.ts'
import { corsLines, buildCors, type HeaderList, preflightHeaders, chooseRequestId } from './headers.ts'
import { type IncomingStream, openIncomingStream } from './incoming-stream.ts'
import { compilePaths, removeRepeatedSlashes } from './paths.ts'
import { type Body, readBody } from './read-body.ts'

export interface ServeOptions<Services> extends Partial<Omit<ServerContext, 'log'>> {
  readonly log: ServerContext['log']
  readonly services: Services
  /**
   * Identifies the caller. Throws `ApiError` if the key does not allow the route. Called before the body is
   * read. Returns undefined for public routes, so that synchronous handlers respond in the same tick.
   */
  readonly authorize: (request: ApiRequest, route: Route<Services>) => undefined | Promise<Caller>
  readonly addressOf: ResolveAddress
  /** The dialect of requests without a key that has one. */
  readonly dialect?: Dialect
  /** Finds the dialect of the key of a request to a public route; null if it has none. */
  readonly findDialect?: (request: ApiRequest) => Promise<Dialect | null>
  /** The name of the cookie with a session; without it there are no sessions. */
  readonly sessionCookie?: string
  /** Origins that may read responses, or `*`. */
  readonly corsOrigins: readonly string[]
  readonly maxBodyBytes?: number
  readonly bodyTimeoutMs?: number
  /** For bodies that arrive faster than their handlers read them. */
  readonly openSpool: OpenSpool
  /** For authorization and handler together. */
  readonly handlerTimeoutMs?: number
}

/**
 * Handles every HTTP request that no earlier handler of `app` takes: with a route, or with an error. Order of
 * checks: path 404, method 405, key 403, content type 415, size 413, body 400; then the handler.
 */
export function serveRoutes<Services>(
  app: TemplatedApp,
  routes: readonly Route<Services>[],
  options: ServeOptions<Services>
): void {
  const { services, authorize, addressOf, log, openSpool } = options
  const { isDraining = () => false, inFlight = { count: 0 } } = options
  const { sessionCookie = '', dialect = 'documented', findDialect = async () => null } = options
  const server = { log, isDraining, inFlight, slowLog: options.slowLog }
  const { maxBodyBytes = 1024 * 1024, bodyTimeoutMs = 15_000, handlerTimeoutMs = 15_000 } = options
  const match = compilePaths(routes)
  const groups = new Map(routes.map(route => [route, groupOf(route.operation?.tag)]))
  const cors = buildCors(options.corsOrigins)
  const withBody = routes.filter(
    ({ method, byteTypes }) => (method === 'POST' || method === 'PUT') && !byteTypes
  )
  const ignoredFields = {
    documented: new Map(withBody.map(route => [route, ignoredFieldsFor(route.operation?.body)])),
    azuracast: new Map(
      withBody.map(route => [route, ignoredFieldsFor(route.azuracastBody ?? route.operation?.body)])
    )
  } satisfies Record<Dialect, unknown>

  app.any('/*', (res, req) => {
    if (closeAmbiguous(res, req)) return
    const exchange: Exchange = {
      res,
      head: {
        method: req.getMethod().toUpperCase(),
        path: req.getUrl(),
        requestId: chooseRequestId(req.getHeader('x-request-id')),
        cors: corsLines(cors.allowedFor(cors.vary === '' ? '' : req.getHeader('origin'))),
        vary: cors.vary,
        ifNoneMatch: req.getHeader('if-none-match'),
        acceptEncoding: req.getHeader('accept-encoding'),
        isChunked: isChunked(req),
        isLast: req.getHeader('connection').length === closeLength
      },
      server,
      group: noGroup,
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
      handle(exchange, req)
    } catch (error) {
      exchange.body ??= dropBody(res, req)
      sendError(exchange, error)
    }
  })

  /** Finds the route of a path of the API with a slash too many at its end. */
  function matchWithoutSlash(path: string) {
    return path.startsWith('/api/') && path.endsWith('/') ? match(path.replace(/\/+$/, '')) : null
  }

  function handle(exchange: Exchange, req: HttpRequest): void {
    const { res, head } = exchange
    const { method } = head
    const asSent = match(head.path)
    const path = asSent === null ? removeRepeatedSlashes(head.path) : head.path
    const exact = path === head.path ? asSent : match(path)
    const found = exact ?? matchWithoutSlash(head.path)
    if (found === null) throw new ApiError('not-found')
    const [{ responseHeaders } = {}] = found.methods.values()
    if (responseHeaders !== undefined) exchange.pathHeaders = Object.entries(responseHeaders)
    if (method === 'OPTIONS') {
      const own = [...found.methods.values()].flatMap(each => Object.entries(each.optionsHeaders ?? {}))
      return sendEmpty(exchange, [...preflightHeaders, ...own])
    }
    if (exact === null) {
      exchange.body = dropBody(res, req)
      const search = req.getQuery() ?? ''
      const location = `${path.replace(/\/+$/, '')}${search === '' ? '' : `?${search}`}`
      return sendReply(exchange, { status: 308, headers: { Location: location } }, false)
    }
    const route = found.methods.get(method === 'HEAD' ? 'GET' : method)
    if (route === undefined || (method === 'HEAD' && route.onlyIn !== undefined))
      throw methodNotAllowed(exchange, found.allow)
    exchange.group = groups.get(route) ?? noGroup
    const isKeyed = route.access !== 'public'
    const query = parseQuery(req.getQuery() ?? '')
    const isSafe = (method === 'GET' || method === 'HEAD') && !route.changes
    // Widgets and plugins read with repeated slashes. An empty id of an operator must not reach another record.
    if (path !== head.path && (isKeyed || !isSafe)) throw new ApiError('not-found')
    const keyInQuery = route.access === 'public' ? readQueryKey(query) : readKeyedQuery(query, route, isSafe)
    const apiKey = readCredential(req, {
      keyInQuery,
      sessionCookie,
      isSafe,
      isKeyed
    })
    // What a key shows is not for others, whatever the route.
    const isPersonal = isKeyed || apiKey !== ''
    const { isSameOriginOnly = false } = route
    if (isSameOriginOnly) assertSameOrigin(req)
    const hasChoice = route.hasDialects === true && !isOwnPage(req)
    const needsAddress = isPersonal || isSameOriginOnly || route.needsAddress
    const request: ApiRequest = {
      method,
      path,
      params: found.params,
      query,
      body: undefined,
      stream: null,
      headers: Object.fromEntries((route.headers ?? []).map(name => [name, req.getHeader(name)])),
      apiKey,
      host: req.getHeader('host'),
      address: needsAddress
        ? addressOf(Buffer.from(res.getRemoteAddressAsText()).toString(), readForwardedFor(req))
        : '',
      userAgent: isSameOriginOnly ? req.getHeader('user-agent') : '',
      caller: null,
      dialect: hasChoice ? dialect : 'documented',
      isOpen: () => exchange.isOpen,
      onSettled: callback => whenSettled(exchange, callback)
    }
    const assertInDialect = ({ dialect: ofRequest }: ApiRequest) => {
      if (route.onlyIn === undefined || route.onlyIn === ofRequest) return
      throw methodNotAllowed(exchange, found.allow)
    }
    const handleRequest =
      isTracing() && !isSafe ? traceHandler(route, req.getHeader('traceparent')) : route.handle
    // A client that sends slowly makes no slow request.
    const onEnd = () => void (exchange.startedAtMs = performance.now())
    const authorized = authorize(request, route)
    // After what may throw: both must be ended.
    const body = openBody(res, req, { method, route, query, onEnd })
    const stream = route.isStreamed ? openStream(res, req, onEnd) : null
    exchange.body = stream ?? body?.incoming ?? dropBody(res, req)
    const needsKey = hasChoice && authorized === undefined && apiKey !== ''
    const withCaller = async (): Promise<ApiRequest> => {
      const caller = (await authorized) ?? null
      if (!hasChoice) return { ...request, caller }
      const ofKey = needsKey ? await findDialect(request) : caller?.key?.dialect
      return { ...request, caller, dialect: ofKey ?? dialect }
    }
    if (stream !== null) {
      const nameIgnored = (names: string) => void (exchange.ignoredFields = names)
      return void finishStreamed(exchange, stream, async () => {
        const authorizedRequest = await withCaller()
        return handleRequest({ ...authorizedRequest, stream: { ...stream, nameIgnored } }, services)
      })
    }
    if (authorized === undefined && body === null && !needsKey) {
      assertInDialect(request)
      const reply = handleRequest(request, services)
      if (!(reply instanceof Promise)) return deliver(exchange, reply, isPersonal)
      return void finish(exchange, null, isPersonal, () => reply)
    }
    void finish(exchange, body, isPersonal, async () => {
      const authorizedRequest = await withCaller()
      assertInDialect(authorizedRequest)
      const isAzuracast = authorizedRequest.dialect === 'azuracast'
      const form = isAzuracast ? (route.azuracastBody ?? route.operation?.body ?? null) : null
      const parsed = body === null ? undefined : await readBody(body, route, form)
      const named = isAzuracast && route.omitConstants ? route.omitConstants(parsed) : parsed
      exchange.ignoredFields = ignoredFields[authorizedRequest.dialect].get(route)?.(named) ?? ''
      // A request that timed out or whose client disconnected must not be executed afterward.
      if (!exchange.isOpen) throw abortedError()
      return handleRequest({ ...authorizedRequest, body: parsed }, services)
    })
  }

  /** Reads the key in the query of a keyed route: for playouts that cannot set headers, and as AzuraCast does. */
  function readKeyedQuery(query: URLSearchParams, { access }: Route<Services>, isSafe: boolean): string {
    const isAllowed = access === 'playout key' || (dialect === 'azuracast' && isSafe)
    return isAllowed ? (query.get('api_key') ?? '') : ''
  }

  /** Starts receiving the body, if any. Must run before anything is awaited, or its first bytes are lost. */
  function openBody(
    res: HttpResponse,
    req: HttpRequest,
    {
      method,
      route,
      query,
      onEnd
    }: Pick<ApiRequest, 'method' | 'query'> & {
      route: Route<Services>
      onEnd: () => void
    }
  ): Body | null {
    if ((method !== 'POST' && method !== 'PUT') || route.isStreamed) return null
    const declaredBytes = Number(req.getHeader('content-length')) || 0
    if (declaredBytes === 0 && !isChunked(req)) return null
    const limits = { maxBytes: route.maxBodyBytes ?? maxBodyBytes, timeoutMs: bodyTimeoutMs, onEnd }
    return {
      contentType: req.getHeader('content-type'),
      query,
      incoming: collectBody(res, declaredBytes, limits)
    }
  }

  function openStream(res: HttpResponse, req: HttpRequest, onEnd: () => void): IncomingStream {
    const size = isChunked(req) ? null : Number(req.getHeader('content-length')) || 0
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
    defer(exchange)
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
    defer(exchange)
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
    body: Body | null,
    isPersonal: boolean,
    work: () => Promise<Reply>
  ): Promise<void> {
    exchange.onDisconnect = () => body?.incoming.cancel()
    defer(exchange)
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

/** Returns the handler of a route that runs in a span, below that of the client if it sent one. */
function traceHandler<Services>(
  { method, path, handle }: Route<Services>,
  traceparent: string
): (request: ApiRequest, services: Services) => Promise<Reply> {
  const attributes = { 'http.request.method': method, 'http.route': path }
  const options = { kind: 'server', parent: traceparent, attributes } as const
  return (request, services) =>
    traced(`${method} ${path}`, options, async span => {
      const reply = await handle(request, services)
      span?.set({ 'http.response.status_code': reply.status ?? 200 })
      return reply
    })
}

const noHeaders: HeaderList = []

function methodNotAllowed(exchange: Exchange, allow: string): ApiError {
  exchange.pathHeaders = [...exchange.pathHeaders, ['Allow', allow]]
  return new ApiError('method-not-allowed')
}

/** uWebSockets.js takes any value of the header `Connection` of this length for `close`. */
const closeLength = 5

/** The slowest upload. */
const streamedTimeoutMs = 24 * 3_600_000
