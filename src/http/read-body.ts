import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { ApiError } from '../platform/runtime/errors.ts'
import { decodeForeignLinesInSlices, findCharset } from '../platform/text/foreign-text.ts'
import { isJsonType, parseLargeJsonBody } from '../platform/text/json-body.ts'
import { findCharsetField, parseUrlEncodedForm } from '../platform/text/percent-encoding.ts'
import { createAbortedError, hasChunkedBody, keepAliveMs, openBodyCompletion } from './body.ts'
import { getFormFile, parseFormFields, parseMultipartForm } from './form-body.ts'
import { isMultipart } from './multipart-body.ts'
import { parseRecordForm } from './record-form.ts'
import { type AdmittedRequest, formContentType, type RoutedRequest, type Route } from './route.ts'

/** The body of a request that is read as a whole. */
export interface CollectedBody {
  readonly contentType: string
  readonly incoming: ReturnType<typeof collectBody>
  readonly query: URLSearchParams
}

interface BodyLimits {
  readonly maxBytes: number
  readonly timeoutMs: number
  /** Called when the last byte was received. */
  readonly onEnd?: () => void
}

/**
 * Starts receiving the body of a request; null if it has none that is read as a whole. Must be called before the
 * uWebSockets.js handler returns, or the first bytes are lost. `limits.maxBytes` is the default of routes.
 */
export function receiveBody(
  res: HttpResponse,
  req: HttpRequest,
  { request: { method, query }, route, limits }: { request: RoutedRequest; route: Route; limits: BodyLimits }
): CollectedBody | null {
  if ((method !== 'POST' && method !== 'PUT') || route.isStreamed) return null
  const declaredBytes = Number(req.getHeader('content-length')) || 0
  if (declaredBytes === 0 && !hasChunkedBody(req)) return null
  const { maxBodyBytes: maxBytes = limits.maxBytes } = route
  return {
    contentType: req.getHeader('content-type'),
    query,
    incoming: collectBody(res, declaredBytes, { ...limits, maxBytes })
  }
}

/** More is not received and used in one tick of the event loop. */
const maxBytesPerTick = 64 * 1024

/**
 * Collects a body. Must be called before the uWebSockets.js handler returns. `bytes` rejects with 413 above the limit and with 408 if the body takes too long. What arrives after
 * that is dropped.
 */
export function collectBody(
  res: HttpResponse,
  declaredBytes: number,
  { maxBytes, timeoutMs, onEnd }: BodyLimits
) {
  let resolve: (bytes: Uint8Array) => void = ignore
  let reject: (error: ApiError) => void = ignore
  const bytes = new Promise<Uint8Array>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  // It may reject before it is awaited.
  bytes.catch(ignore)
  const completion = openBodyCompletion()
  let chunks: Buffer[] = []
  let size = 0
  let isSettled = false
  const settle = (action: () => void) => {
    if (isSettled) return
    isSettled = true
    clearInterval(timer)
    action()
    chunks = []
  }
  const refuse = () => reject(new ApiError('too-large', `The body is larger than ${maxBytes} bytes.`))
  const steps = Math.ceil(timeoutMs / keepAliveMs)
  let step = 0
  const timer = setInterval(() => {
    step += 1
    if (step < steps) {
      res.pause()
      res.resume()
    } else
      settle(() =>
        reject(new ApiError('timed-out', `The body took longer than ${timeoutMs / 1000} seconds.`))
      )
  }, timeoutMs / steps)

  if (declaredBytes > maxBytes) settle(refuse)
  res.onData((chunk, isLast) => {
    if (isLast) {
      completion.end()
      onEnd?.()
    }
    if (isSettled) return
    size += chunk.byteLength
    if (size > maxBytes) return settle(refuse)
    // Copied, because uWebSockets.js reuses the memory when this callback returns.
    chunks.push(Buffer.from(Buffer.from(chunk)))
    if (!isLast) return
    const received = chunks
    const finish = () => resolve(Buffer.concat(received))
    // Megabytes may have arrived in this tick of the event loop.
    settle(() => (size > maxBytesPerTick ? setImmediate(finish) : finish()))
  })
  return {
    bytes,
    isComplete: completion.isComplete,
    whenComplete: completion.whenComplete,
    /** Must be called if the client leaves, and before the response. */
    cancel: () => settle(() => reject(createAbortedError()))
  }
}

/** Parses a body. `form`: as of `AdmittedRequest`. */
export async function parseCollectedBody(
  { contentType, incoming, query }: CollectedBody,
  { textTypes = [], takesForm = false, byteTypes, maxBodyValues }: Route,
  form: AdmittedRequest['form']
): Promise<unknown> {
  const [typeName = ''] = contentType.toLowerCase().split(';')
  const type = typeName.trim()
  const charset = findCharset(contentType) ?? findCharsetField(query)
  if (isMultipart(contentType) && (byteTypes || textTypes.length > 0 || takesForm)) {
    const parts = await parseMultipartForm(await incoming.bytes, contentType, { charset })
    if (takesForm) return Object.fromEntries(parts.fields)
    return byteTypes ? getFormFile(parts) : decodeForeignLinesInSlices(getFormFile(parts), parts.charset)
  }
  if (byteTypes) {
    if (byteTypes.includes(type)) return incoming.bytes
    throw new ApiError('wrong-media-type', `The body must be one of ${byteTypes.join(', ')}.`)
  }
  if (isJsonType(contentType)) {
    // Forms come from radio programs, which do not know the encoding of their titles.
    return parseLargeJsonBody(await incoming.bytes, {
      maxValues: maxBodyValues,
      ...(takesForm && { charset })
    })
  }
  if (textTypes.includes(type)) return decodeForeignLinesInSlices(await incoming.bytes, charset)
  if (type === formContentType) assertFormSize(await incoming.bytes)
  if (takesForm && type === formContentType)
    return Object.fromEntries(parseUrlEncodedForm(await incoming.bytes, charset))
  if (form && isMultipart(contentType))
    return parseRecordForm(await parseFormFields(await incoming.bytes, contentType), form)
  if (form && type === formContentType)
    return parseRecordForm(parseUrlEncodedForm(await incoming.bytes, charset), form)
  throw new ApiError('wrong-media-type')
}

/** Forms are read at once, and text in them is encoded up to three times as long as in JSON. */
const maxFormBytes = 1024 * 1024

function assertFormSize({ length }: Uint8Array): void {
  if (length > maxFormBytes)
    throw new ApiError('too-large', `A form may have at most ${maxFormBytes} bytes: send JSON.`)
}

const ignore = () => {}
