import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js'

import type { Logger } from '../platform/runtime/log.ts'
import { redactKeysInPath } from '../platform/runtime/redact-keys.ts'
import { readAddress, type ResolveAddress } from './client-address.ts'

interface AccessLogOptions {
  readonly log: Pick<Logger, 'info'>
  readonly addressOf: ResolveAddress
}

type Handler = (res: HttpResponse, req: HttpRequest) => void | Promise<void>

/**
 * Makes an app log a line for each request when its response ends: method, path without the query, status (0: the
 * client disconnected before it), milliseconds until its last byte was handed over, bytes of the body, address. Streams
 * and long polls are logged when they end, WebSockets when they begin. To be called before handlers are registered;
 * without the call, requests cost nothing.
 */
export function logAccess(app: TemplatedApp, options: AccessLogOptions): void {
  const observe =
    (handler: Handler): Handler =>
    (res, req) => {
      observeResponse(res, req, options)
      return handler(res, req)
    }
  const register = (name: 'get' | 'post' | 'head' | 'any') => {
    const original = app[name].bind(app)
    app[name] = (pattern, handler) => original(pattern, observe(handler))
  }
  for (const name of ['get', 'post', 'head', 'any'] as const) register(name)
  const ws = app.ws.bind(app)
  app.ws = (pattern, { upgrade, ...behavior }) =>
    ws(pattern, {
      ...behavior,
      ...(upgrade && {
        upgrade: (res, req, context) => {
          observeResponse(res, req, options)
          return upgrade(res, req, context)
        }
      })
    })
}

const byteLength = (body: unknown): number => {
  if (typeof body === 'string') return Buffer.byteLength(body)
  return body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body.byteLength : 0
}

/** Replaces the methods of a response that begin and end it. A handler that yields ends none. */
function observeResponse(res: HttpResponse, req: HttpRequest, { log, addressOf }: AccessLogOptions): void {
  const startedAtMs = performance.now()
  const method = req.getMethod().toUpperCase()
  const path = redactKeysInPath(req.getUrl())
  const address = readAddress(res, req, addressOf)
  let status = 0
  let bytes = 0
  let isLogged = false

  function write(): void {
    if (isLogged) return
    isLogged = true
    const ms = Math.round((performance.now() - startedAtMs) * 10) / 10
    log.info({ method, path, status: status === 0 && bytes > 0 ? 200 : status, ms, bytes, address }, 'access')
  }

  const writeStatus = res.writeStatus.bind(res)
  const writePart = res.write.bind(res)
  const end = res.end.bind(res)
  const endWithoutBody = res.endWithoutBody.bind(res)
  const tryEnd = res.tryEnd.bind(res)
  const close = res.close.bind(res)
  const onAborted = res.onAborted.bind(res)
  const upgrade = res.upgrade.bind(res)
  res.writeStatus = text => {
    status = typeof text === 'string' ? Number.parseInt(text, 10) : status
    return writeStatus(text)
  }
  res.write = part => {
    bytes += byteLength(part)
    return writePart(part)
  }
  // No argument more than was given: uWebSockets.js counts them.
  res.end = (...given) => {
    bytes += byteLength(given[0])
    status ||= 200
    write()
    return end(...given)
  }
  res.endWithoutBody = (...given) => {
    status ||= 200
    write()
    return endWithoutBody(...given)
  }
  res.tryEnd = (part, totalSize) => {
    const result = tryEnd(part, totalSize)
    if (result[1]) {
      bytes = totalSize
      status ||= 200
      write()
    }
    return result
  }
  res.close = () => {
    write()
    return close()
  }
  res.onAborted = handler =>
    onAborted(() => {
      write()
      handler()
    })
  res.upgrade = (...given) => {
    status = 101
    write()
    upgrade(...given)
  }
}
