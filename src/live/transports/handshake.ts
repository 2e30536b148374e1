import { STATUS_CODES } from 'node:http'

import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { isForwarded, readForwardedFor } from '../../http/client-address.ts'
import { readCredential, readQueryKey } from '../../http/credentials.ts'
import { commonLines, type HeaderList, jsonContentType, renderLines } from '../../http/headers.ts'
import { ApiError, renderApiError } from '../../platform/runtime/errors.ts'
import { malformed } from '../../platform/text/json-body.ts'
import type { Admission, ConnectionRefusal } from '../admission.ts'
import { disconnectReasons, maxMessageBytes, parseDelay, parseSubscribe } from '../protocol.ts'
import type { NewClient } from '../session.ts'

/** What every transport needs to accept clients. */
export interface HandshakeOptions {
  readonly admission: Admission
  /** The client's address, from the connection's and the header `X-Forwarded-For`. */
  readonly addressOf: (connection: string, forwarded: string) => string
  /** Allowed origins, or `*`; requests without an origin are always allowed. */
  readonly origins: readonly string[]
  /** The name of the cookie with a session; without it there are no sessions. */
  readonly sessionCookie?: string
}

/** A request for a live connection, before it is accepted. */
export type ConnectRequest = Readonly<ReturnType<typeof readConnectRequest>>

/**
 * Reads a request for a live connection. `message` is the subscribe message of `?cf_connect=`, or null.
 * Throws `ApiError`: 403 for an origin that is not allowed, 400 for an invalid `cf_connect` or `delay`.
 */
export function readConnectRequest(res: HttpResponse, req: HttpRequest, options: HandshakeOptions) {
  const { addressOf, origins, sessionCookie = '' } = options
  const origin = req.getHeader('origin')
  if (origin !== '' && !origins.includes('*') && !origins.includes(origin))
    throw new ApiError('forbidden', `The origin ${origin} may not connect.`)
  const query = new URLSearchParams(req.getQuery() ?? '')
  const message = query.get('cf_connect')
  if (message !== null) assertParsable(message, 'cf_connect')
  const delayMs = parseDelay(query.get('delay'))
  if (delayMs === null) throw malformed('delay must be a number of seconds from 0 to 60.', 'delay')
  const connection = Buffer.from(res.getRemoteAddressAsText()).toString()
  return {
    key: readCredential(req, {
      keyInQuery: readQueryKey(query),
      sessionCookie,
      isSafe: true,
      isKeyed: false
    }),
    address: addressOf(connection, readForwardedFor(req)),
    isForwarded: isForwarded(req),
    origin,
    message,
    delayMs
  }
}

/** Throws 400 or 413 for a subscribe message that cannot be parsed; `field` is empty for a body. */
export function assertParsable(message: string, field: string): void {
  const parsed = parseSubscribe(message)
  const what = field === '' ? 'The body' : field
  if (parsed === 'tooBig') throw new ApiError('too-large', `${what} is larger than ${maxMessageBytes} bytes.`)
  if (parsed === 'badHeartbeat') throw malformed(`${disconnectReasons.badHeartbeat.reason}.`, 'heartbeat')
  if (parsed === 'badRequest')
    throw malformed(`${what} must be a subscribe message, such as {"subs": {"station:1": {}}}.`, field)
}

/** Admits a client, or returns which limit is reached. */
export function acceptConnection({ key, address, delayMs }: ConnectRequest, admission: Admission) {
  const owner = admission.enter(address)
  return typeof owner === 'string' ? owner : ({ key, delayMs, owner } satisfies NewClient)
}

/** Seconds after which a refused client may connect again; random, so that clients do not return at once. */
export const pickRetrySeconds = () => 5 + Math.floor(Math.random() * 11)

/** The error if a limit is reached. */
export function refusalError(refusal: ConnectionRefusal): ApiError {
  return refusal === 'total'
    ? new ApiError('unavailable')
    : new ApiError('too-many', 'Too many connections from this address: try again later.')
}

/**
 * CORS headers of the live endpoints. Every allowed origin may read: clients of the protocol send credentials,
 * but the session cookie of a request from another origin is ignored.
 */
export function createCorsHeaders(origin: string): HeaderList {
  if (origin === '') return [['Access-Control-Allow-Origin', '*']]
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
    ['Vary', 'Origin']
  ]
}

/** Answers a request that does not become a connection. Must be called inside the handler or a cork. */
export function refuseConnection(res: HttpResponse, cause: unknown, origin: string, close = false): void {
  const error = cause instanceof ApiError ? cause : new ApiError('internal')
  const isTemporary = error.status === 429 || error.status === 503
  res.writeStatus(`${error.status} ${STATUS_CODES[error.status] ?? 'Unknown'}`)
  const headers: HeaderList = [
    ['Cache-Control', 'no-store'],
    ...(isTemporary ? [['Retry-After', String(pickRetrySeconds())] as const] : []),
    ...createCorsHeaders(origin)
  ]
  res.writeHeader('Content-Type', jsonContentType + commonLines + renderLines(headers))
  res.end(renderApiError(error), close)
}
