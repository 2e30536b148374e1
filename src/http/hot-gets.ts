import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import type { DocumentKind, LiveView } from '../api/core/services.ts'
import { publicHeaders } from '../api/now-playing/now-playing.ts'
import type { CachedResponse } from '../station/document.ts'
import { isAmbiguous } from './body.ts'
import { type Cors, openCors, writeCountedId } from './headers.ts'
import type { InFlight } from './in-flight.ts'
import { streamRest, wholeBytes } from './stream.ts'
import { chooseEncoding, etagMatches } from './variants.ts'
import { openWireForms, type WireForms } from './wire-forms.ts'

export interface HotGetsOptions {
  readonly live: LiveView
  /** Origins that may read answers, or `*`. */
  readonly corsOrigins: readonly string[]
  /** Whether clients are asked to close their connections. */
  readonly isDraining?: () => boolean
  readonly underWay?: InFlight
  /**
   * Whether a proxy passes requests of many clients on over one connection: only then one of them can harm
   * another (see `isAmbiguous`).
   */
  readonly isBehindProxy?: boolean
}

/**
 * Answers the reads that everybody polls, in their plain cases, with as few calls into native code as there
 * can be. Everything else is left to what is registered after it, which must answer these paths as well:
 * unknown and private stations, keys, long polls, percent escapes, request ids of the caller, bodies,
 * compressed forms that are not made yet, draining, all other methods.
 */
export function serveHotGets(app: TemplatedApp, options: HotGetsOptions): void {
  const { live, isDraining = () => false, underWay = { answers: 0 }, isBehindProxy = false } = options
  const cors = openCors(options.corsOrigins)

  /** Registers a path for GET and HEAD; the first reading that fits is taken. */
  function serve(path: string, ...readings: readonly Reading[]) {
    const answering = (isHead: boolean) => (res: HttpResponse, req: HttpRequest) => {
      let isAnswered = false
      try {
        isAnswered = answer(res, req, isHead, readings)
      } catch {
        // Only making a document can throw; the general routes try it again, and say and log what is wrong.
      }
      if (!isAnswered) req.setYield(true)
    }
    app.get(path, answering(false))
    app.head(path, answering(true))
  }

  function answer(
    res: HttpResponse,
    req: HttpRequest,
    isHead: boolean,
    readings: readonly Reading[]
  ): boolean {
    if (isDraining() || req.getHeader(named.id) !== '') return false
    if (req.getHeader(named.length) !== '' || req.getHeader(named.chunks) !== '') return false
    if (isBehindProxy && isAmbiguous(req)) return false
    for (const { find, forms } of readings) {
      const document = find(req)
      if (document !== null) return send(res, req, isHead, document, forms)
    }
    return false
  }

  function send(
    res: HttpResponse,
    req: HttpRequest,
    isHead: boolean,
    document: CachedResponse,
    forms: WireForms
  ): boolean {
    const ifNoneMatch = req.getHeader(named.tags)
    if (ifNoneMatch !== '' && etagMatches(ifNoneMatch, document.etag)) {
      res.writeStatus('304 Not Modified')
      writeHead(res, req, forms.unchanged(document), cors)
      res.endWithoutBody()
      return true
    }
    const form = forms.whole(document, chooseEncoding(req.getHeader(named.encodings)))
    if (form === null) return false
    writeHead(res, req, form.head, cors)
    if (isHead) endHead(res, form.bytes.length)
    else if (form.bytes.length <= wholeBytes) res.end(form.bytes)
    else endLarge(res, form.bytes, underWay)
    return true
  }

  /** Reads the station that is named by the first parameter, before `suffix`. */
  function ofStation(kind: DocumentKind, suffix: string): Reading {
    const find = (req: HttpRequest): CachedResponse | null => {
      const query = req.getQuery()
      if (query !== undefined && mayPoll.test(query)) return null
      const parameter = req.getParameter(0) ?? ''
      if (suffix === '') return live.publicDocument(parameter, kind) ?? null
      if (!parameter.endsWith(suffix)) return null
      return live.publicDocument(parameter.slice(0, -suffix.length), kind) ?? null
    }
    return { find, forms: openWireForms(publicHeaders[kind], cors) }
  }

  const ofAll: Reading = {
    find: req =>
      req.getHeader('x-api-key') === '' && req.getHeader('authorization') === '' && !mayHoldKey(req)
        ? live.publicList()
        : null,
    forms: openWireForms(publicHeaders.list, cors)
  }

  serve('/api/nowplaying', ofAll)
  serve('/api/nowplaying/:id', ofStation('rest', ''))
  serve('/api/station/:id/nowplaying', ofStation('rest', ''))
  serve('/api/nowplaying_static/:file', ofStation('event', '.json'), ofStation('line', '.txt'))
}

/** Names of headers as bytes, which uWebSockets.js reads where they are; texts it has to copy. */
const named = {
  ownId: Buffer.from('X-Request-Id'),
  id: Buffer.from('x-request-id'),
  tags: Buffer.from('if-none-match'),
  encodings: Buffer.from('accept-encoding'),
  length: Buffer.from('content-length'),
  chunks: Buffer.from('transfer-encoding')
}

/** One plain case: `find` gives null for what is none. */
interface Reading {
  readonly find: (req: HttpRequest) => CachedResponse | null
  readonly forms: WireForms
}

const mayHoldKey = (req: HttpRequest) => /api_key|%/.test(req.getQuery() ?? '')

/** A query that may ask for a long poll, as far as can be seen without decoding it. */
const mayPoll = /wait|since|epoch|%/

function writeHead(res: HttpResponse, req: HttpRequest, head: Uint8Array, cors: Cors): void {
  writeCountedId(head)
  res.writeHeader(named.ownId, head)
  if (cors.vary === '') return
  const allowed = cors.allowedFor(req.getHeader('origin'))
  if (allowed !== '') res.writeHeader('Access-Control-Allow-Origin', allowed)
}

function endHead(res: HttpResponse, length: number): void {
  res.writeHeader('Content-Length', String(length))
  res.endWithoutBody()
}

function endLarge(res: HttpResponse, bytes: Uint8Array, underWay: InFlight): void {
  const [, isDone] = res.tryEnd(bytes, bytes.length)
  if (isDone) return
  underWay.answers++
  const done = () => void underWay.answers--
  res.onAborted(done)
  streamRest(res, bytes, done)
}
