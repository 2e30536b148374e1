import type { HttpRequest, HttpResponse } from 'uWebSockets.js'

import { isForwardedRequest, readAddress, type ResolveAddress } from '../../http/client-address.ts'
import { readCredential, readQueryKey } from '../../http/credentials.ts'
import { renderApiError } from '../../http/error-body.ts'
import {
  chooseRequestId,
  commonHeaderLines,
  type CorsPolicy,
  type HeaderList,
  jsonContentType,
  renderHeaderLines,
  statusLine
} from '../../http/headers.ts'
import { ApiError, pickRetrySeconds, TooManyRequests } from '../../platform/runtime/errors.ts'
import { createMalformedError } from '../../platform/text/json-body.ts'
import type { ConnectionAdmission, ConnectionRefusal } from '../connection-admission.ts'
import { disconnectReasons, maxMessageBytes, parseDelay, parseSubscribeMessage } from '../protocol.ts'
import type { NewClient } from '../session.ts'

/** What every transport needs to accept clients. */
export interface HandshakeOptions {
  readonly admission: ConnectionAdmission
  readonly addressOf: ResolveAddress
  /** Which origins may connect; requests without an origin always may. */
  readonly cors: CorsPolicy
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
  const { addressOf, cors, sessionCookie = '' } = options
  const origin = req.getHeader('origin')
  if (origin !== '' && cors.allowedFor(origin) === '')
    throw new ApiError('forbidden', `The origin ${origin} may not connect.`)
  const query = new URLSearchParams(req.getQuery() ?? '')
  const message = query.get('cf_connect')
  if (message !== null) assertSubscribeMessage(message, 'cf_connect')
  const delayMs = parseDelay(query.get('delay'))
  if (delayMs === null) throw createMalformedError('delay must be a number of seconds from 0 to 60.', 'delay')
  return {
    key: readCredential(req, {
      keyInQuery: readQueryKey(query),
      sessionCookie,
      isSafe: true,
      isKeyed: false
    }),
    address: readAddress(res, req, addressOf),
    isForwarded: isForwardedRequest(req),
    message,
    delayMs
  }
}

/** Throws 400 or 413 for a subscribe message that cannot be parsed; `field` is empty for a body. */
export function assertSubscribeMessage(message: string, field: string): void {
  const parsed = parseSubscribeMessage(message)
  const what = field === '' ? 'The body' : field
  if (parsed === 'tooBig') throw new ApiError('too-large', `${what} is larger than ${maxMessageBytes} bytes.`)
  if (parsed === 'badHeartbeat')
    throw createMalformedError(`${disconnectReasons.badHeartbeat.reason}.`, 'heartbeat')
  if (parsed === 'badRequest')
    throw createMalformedError(
      `${what} must be a subscribe message, such as {"subs": {"station:1": {}}}.`,
      field
    )
}

/** Admits a client, or returns which limit is reached. */
export function admitConnection({ key, address, delayMs }: ConnectRequest, admission: ConnectionAdmission) {
  const owner = admission.enter(address)
  return typeof owner === 'string' ? owner : ({ key, delayMs, owner } satisfies NewClient)
}

/** The error if a limit is reached. */
export function createRefusalError(refusal: ConnectionRefusal): ApiError {
  const seconds = pickRetrySeconds()
  return refusal === 'total'
    ? new ApiError('unavailable', undefined, {}, seconds)
    : new TooManyRequests(seconds, 'Too many connections from this address: try again later.')
}

/**
 * Headers of every response to a request. Every allowed origin may read it: clients of the protocol send credentials,
 * but the session cookie of a request from another origin is ignored.
 */
export function createCommonHeaders(req: HttpRequest, { cors }: HandshakeOptions): HeaderList {
  const origin = req.getHeader('origin')
  const requestId = ['X-Request-Id', chooseRequestId(req.getHeader('x-request-id'))] as const
  if (origin === '') return [requestId, ['Access-Control-Allow-Origin', '*']]
  if (cors.allowedFor(origin) === '') return [requestId, ['Vary', 'Origin']]
  return [
    requestId,
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Allow-Credentials', 'true'],
    ['Vary', 'Origin']
  ]
}

/**
 * Answers a request that does not become a connection. `common`: see `createCommonHeaders`. Must be called inside the
 * handler or a cork.
 */
export function refuseConnection(res: HttpResponse, cause: unknown, common: HeaderList, close = false): void {
  const error = cause instanceof ApiError ? cause : new ApiError('internal')
  const seconds = error.retryAfterSeconds
  res.writeStatus(statusLine(error.status))
  const headers: HeaderList = [
    ['Cache-Control', 'no-store'],
    ...(seconds === null ? [] : [['Retry-After', String(seconds)] as const]),
    ...common
  ]
  res.writeHeader('Content-Type', jsonContentType + commonHeaderLines + renderHeaderLines(headers))
  res.end(renderApiError(error), close)
}
