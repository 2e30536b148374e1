import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import { hasAmbiguousLength } from '../http/body.ts'
import {
  chooseEncoding,
  type ContentEncoding,
  etagMatches,
  encodeDocument
} from '../http/content-encoding.ts'
import { isFromOwnPage } from '../http/credentials.ts'
import {
  commonHeaderLines,
  type CorsPolicy,
  corsHeaderLines,
  countedRequestIdBytes,
  documentHeaders,
  type HeaderList,
  buildCorsPolicy,
  renderHeaderLines,
  contentTypeHeaders,
  withVary,
  writeCountedRequestId
} from '../http/headers.ts'
import {
  maxUnstreamedBytes,
  type ResponsesInFlight,
  sendRemainingBytes,
  sendTimeoutMs
} from '../http/response-stream.ts'
import type { Reply } from '../http/route.ts'
import type { CachedResponse } from '../model/station/cached-response.ts'
import type { DocumentKind, LiveView } from '../model/station/live-view.ts'
import { publicHeaders } from '../model/station/public-headers.ts'
import { hotResponseCounts } from '../platform/metrics/http.ts'

export interface HotGetsOptions {
  readonly live: Pick<LiveView, 'publicDocument' | 'publicList'>
  /** Whether clients are asked to close their connections. */
  readonly isDraining?: () => boolean
  readonly inFlight?: ResponsesInFlight
  /** Origins that may read responses, or `*`. */
  readonly corsOrigins: readonly string[]
  /** Whether a proxy sends requests of many clients over one connection; then `hasAmbiguousLength` is checked. */
  readonly isBehindProxy?: boolean
  /** Whether pages of this server are answered by another renderer than the default one. */
  readonly ownPagesDiffer?: boolean
}

/**
 * Handles the GETs that all clients poll in their simple cases, with as few calls into native code as
 * possible. Everything else is left to the routes registered later, which must handle these paths as well:
 * unknown and private stations, keys, long polls, percent escapes, request ids, bodies, variants that are not
 * compressed yet, draining, other methods.
 */
export function serveHotGets(app: TemplatedApp, options: HotGetsOptions): void {
  const { live, isDraining = () => false, inFlight = { count: 0 }, isBehindProxy = false } = options
  const mayDiffer = options.ownPagesDiffer ? (req: HttpRequest) => hasKey(req) || isFromOwnPage(req) : hasKey
  const cors = buildCorsPolicy(options.corsOrigins)

  /** Registers a path for GET and HEAD. The first source that finds a document is used. */
  function serve(path: string, ...sources: readonly Source[]) {
    const openHandler = (isHead: boolean) => (res: HttpResponse, req: HttpRequest) => {
      let isHandled = false
      try {
        isHandled = handle(res, req, isHead, sources)
      } catch {
        // Rendering failed. The general routes try again and log the error.
      }
      if (!isHandled) req.setYield(true)
    }
    app.get(path, openHandler(false))
    app.head(path, openHandler(true))
  }

  function handle(res: HttpResponse, req: HttpRequest, isHead: boolean, sources: readonly Source[]): boolean {
    if (isDraining() || req.getHeader(headerNames.requestId) !== '') return false
    if (req.getHeader(headerNames.length) !== '' || req.getHeader(headerNames.coding) !== '') return false
    if (isBehindProxy && hasAmbiguousLength(req)) return false
    for (const { find, prerendered } of sources) {
      const document = find(req)
      if (document !== null) return send(res, req, isHead, document, prerendered)
    }
    return false
  }

  function send(
    res: HttpResponse,
    req: HttpRequest,
    isHead: boolean,
    document: CachedResponse,
    prerendered: Prerendered
  ): boolean {
    const ifNoneMatch = req.getHeader(headerNames.ifNoneMatch)
    if (ifNoneMatch !== '' && etagMatches(ifNoneMatch, document.etag)) {
      res.writeStatus('304 Not Modified')
      writeHead(res, req, prerendered.notModified(document), cors)
      res.endWithoutBody()
      hotResponseCounts.notModified++
      return true
    }
    const response = prerendered.whole(document, chooseEncoding(req.getHeader(headerNames.acceptEncoding)))
    if (response === null) return false
    hotResponseCounts.found++
    writeHead(res, req, response.head, cors)
    if (isHead) {
      res.writeHeader('Content-Length', String(response.bytes.length))
      res.endWithoutBody()
    } else if (response.bytes.length <= maxUnstreamedBytes) res.end(response.bytes)
    else endLarge(res, response.bytes, inFlight)
    return true
  }

  /** Documents of the station that the first parameter names before `suffix`. */
  function stationSource(kind: DocumentKind, suffix: string): Source {
    const find = (req: HttpRequest): CachedResponse | null => {
      const query = req.getQuery()
      if (query !== undefined && mayPoll.test(query)) return null
      if (kind !== 'line' && mayDiffer(req)) return null
      const parameter = req.getParameter(0) ?? ''
      if (suffix === '') return live.publicDocument(parameter, kind) ?? null
      if (!parameter.endsWith(suffix)) return null
      return live.publicDocument(parameter.slice(0, -suffix.length), kind) ?? null
    }
    return { find, prerendered: openPrerendered(publicHeaders[kind], cors) }
  }

  const listSource: Source = {
    find: req =>
      !mayDiffer(req) &&
      // It may be a session.
      req.getHeader('cookie') === '' &&
      !mayHaveKeyOrSelection(req)
        ? live.publicList()
        : null,
    prerendered: openPrerendered(publicHeaders.list, cors)
  }

  serve('/api/nowplaying', listSource)
  serve('/api/nowplaying/:id', stationSource('rest', ''))
  serve('/api/station/:id/nowplaying', stationSource('rest', ''))
  serve('/api/nowplaying_static/:file', stationSource('event', '.json'), stationSource('line', '.txt'))
}

/** Header names as bytes, which uWebSockets.js reads in place; strings are copied. */
const headerNames = {
  ownRequestId: Buffer.from('X-Request-Id'),
  requestId: Buffer.from('x-request-id'),
  ifNoneMatch: Buffer.from('if-none-match'),
  acceptEncoding: Buffer.from('accept-encoding'),
  apiKey: Buffer.from('x-api-key'),
  authorization: Buffer.from('authorization'),
  length: Buffer.from('content-length'),
  coding: Buffer.from('transfer-encoding')
}

/** A simple case: `find` returns null for requests that are not simple. */
interface Source {
  readonly find: (req: HttpRequest) => CachedResponse | null
  readonly prerendered: Prerendered
}

/** Whether a request for the list may have a key, or select a part of the list. */
const mayHaveKeyOrSelection = (req: HttpRequest) =>
  /api_key|token|stations|page|current|rowCount|%/.test(req.getQuery() ?? '')

/** Whether a request has a key, which may choose another renderer. */
const hasKey = (req: HttpRequest) =>
  req.getHeader(headerNames.apiKey) !== '' || req.getHeader(headerNames.authorization) !== ''

/** Matches queries that may request a long poll or have a key, without decoding them. */
const mayPoll = /wait|since|epoch|api_key|token|%/

function writeHead(res: HttpResponse, req: HttpRequest, head: Uint8Array, cors: CorsPolicy): void {
  writeCountedRequestId(head)
  res.writeHeader(headerNames.ownRequestId, head)
  if (cors.vary === '') return
  const allowed = cors.allowedFor(req.getHeader('origin'))
  if (allowed !== '') res.writeHeader('Access-Control-Allow-Origin', allowed)
}

function endLarge(res: HttpResponse, bytes: Uint8Array, inFlight: ResponsesInFlight): void {
  const [, isDone] = res.tryEnd(bytes, bytes.length)
  if (isDone) return
  inFlight.count++
  // A slow client must not keep the bytes in memory forever.
  const timer = setTimeout(() => res.close(), sendTimeoutMs(bytes.length))
  const done = () => {
    inFlight.count--
    clearTimeout(timer)
  }
  res.onAborted(done)
  sendRemainingBytes(res, bytes, done)
}

/** A response that is ready to be sent. */
interface PrerenderedResponse {
  /** All headers as the value of `X-Request-Id`, which begins with room for a counted id. */
  readonly head: Uint8Array
  readonly bytes: Uint8Array
}

type Prerendered = ReturnType<typeof openPrerendered>

interface Rendered {
  notModified?: Uint8Array
  plain?: PrerenderedResponse
  br?: PrerenderedResponse
  gzip?: PrerenderedResponse
}

/**
 * Renders responses for documents on first use and caches them as long as their document. `given` are headers
 * of all responses. `Access-Control-Allow-Origin` is included only if it is `*`.
 */
function openPrerendered(given: NonNullable<Reply['headers']>, cors: CorsPolicy) {
  const byDocument = new WeakMap<CachedResponse, Rendered>()
  const allowed = corsHeaderLines(cors.vary === '' ? '*' : '')

  function renderHead(headers: HeaderList): Uint8Array {
    const lines = allowed + commonHeaderLines + renderHeaderLines(withVary(headers, cors.vary))
    return Buffer.from('0'.repeat(countedRequestIdBytes) + lines)
  }

  function renderedOf(document: CachedResponse): Rendered {
    const known = byDocument.get(document)
    if (known !== undefined) return known
    const added: Rendered = {}
    byDocument.set(document, added)
    return added
  }

  return {
    /** Returns the headers of a 304. */
    notModified: (document: CachedResponse) =>
      (renderedOf(document).notModified ??= renderHead(documentHeaders(given, document))),
    /** Returns null while the compressed variant is not ready, and starts compressing it. */
    whole: (document: CachedResponse, encoding: ContentEncoding | null): PrerenderedResponse | null => {
      const rendered = renderedOf(document)
      const known = rendered[encoding ?? 'plain']
      if (known !== undefined) return known
      const variant = encodeDocument(document, encoding)
      if (variant instanceof Promise) return null
      const headers = [...contentTypeHeaders(given, variant.encoding), ...documentHeaders(given, document)]
      return (rendered[encoding ?? 'plain'] = { head: renderHead(headers), bytes: variant.bytes })
    }
  }
}
