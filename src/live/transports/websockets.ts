import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'

import { closeIfAmbiguous } from '../../http/body.ts'
import { removeTrailingSlashes, removeRepeatedSlashes } from '../../http/paths.ts'
import { bytesSentMetric, framesSentMetric } from '../../platform/metrics/push.ts'
import type { EncodedFrame } from '../frames.ts'
import type { Hub } from '../hub.ts'
import { maxMessageBytes, maxMessageRate } from '../protocol.ts'
import type { LiveSession, LiveTransport, NewClient } from '../session.ts'
import {
  type HandshakeOptions,
  admitConnection,
  createCommonHeaders,
  createRefusalError,
  readConnectRequest,
  refuseConnection
} from './handshake.ts'

/** The data of a socket from its upgrade on. uWebSockets.js copies it by member, so it has one member. */
interface SocketData {
  readonly connection: Connection
}

interface Connection {
  /** Until the socket is open: the client, and the subscribe message of `?cf_connect=` if it sent one. */
  pending: { readonly client: NewClient; readonly message: string | null } | null
  session: LiveSession | null
  /** The second of the newest message, and the number of messages in that second. */
  second: number
  messages: number
}

export const webSocketPath = '/api/live/nowplaying/websocket'

/** Above the limit of a session (`slowBytes`), so that the disconnect frame still fits. */
const maxBackpressure = 2 * 1024 * 1024

/** Serves the live protocol over WebSockets. Must be called before the HTTP routes of `app`. */
export function serveWebSockets(app: TemplatedApp, hub: Hub, handshake: HandshakeOptions): void {
  app.ws<SocketData>('/*', {
    // uWebSockets.js closes longer frames without a code, so the limit of the protocol is lower.
    maxPayloadLength: 4 * maxMessageBytes,
    maxBackpressure,
    // Clients answer a ping every 25 seconds. uWebSockets.js counts in steps of 4 seconds: 32 to 36.
    idleTimeout: 36,
    sendPingsAutomatically: false,
    // A client follows no redirect to the path without repeated slashes or one at its end.
    upgrade: (res, req, context) => {
      const path = removeTrailingSlashes(removeRepeatedSlashes(req.getUrl()))
      if (path === webSocketPath) upgrade(res, req, context, handshake)
      else req.setYield(true)
    },
    open: ws => {
      const { connection } = ws.getUserData()
      const { pending } = connection
      if (pending === null) return
      connection.pending = null
      connection.session = hub.join(new SocketTransport(ws), pending.client)
      if (pending.message !== null) hub.receive(connection.session, pending.message)
    },
    message: (ws, message) => {
      const { connection } = ws.getUserData()
      const { session } = connection
      if (session === null) return
      if (message.byteLength > maxMessageBytes) return hub.end(session, 'tooBig')
      if (isFlood(connection)) return hub.end(session, 'tooManyMessages')
      hub.receive(session, Buffer.from(message).toString())
    },
    drain: ws => {
      const { session } = ws.getUserData().connection
      if (session !== null) hub.drained(session)
    },
    close: ws => {
      const { session } = ws.getUserData().connection
      if (session === null) return
      if (session.transport instanceof SocketTransport) session.transport.isOpen = false
      hub.leave(session)
    }
  })
}

function upgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  handshake: HandshakeOptions
): void {
  if (closeIfAmbiguous(res, req)) return
  const connection: Connection = { pending: null, session: null, second: 0, messages: 0 }
  try {
    const request = readConnectRequest(res, req, handshake)
    const client = admitConnection(request, handshake.admission)
    if (typeof client === 'string') throw createRefusalError(client)
    connection.pending = { client, message: request.message }
  } catch (error) {
    return refuseConnection(res, error, createCommonHeaders(req, handshake))
  }
  res.upgrade<SocketData>(
    { connection },
    req.getHeader('sec-websocket-key'),
    req.getHeader('sec-websocket-protocol'),
    req.getHeader('sec-websocket-extensions'),
    context
  )
}

function isFlood(connection: Connection): boolean {
  const second = Math.floor(performance.now() / 1000)
  connection.messages = second === connection.second ? connection.messages + 1 : 1
  connection.second = second
  return connection.messages > maxMessageRate
}

/** A WebSocket. A class, so that sockets share their functions. */
class SocketTransport implements LiveTransport {
  readonly name = 'websocket'
  /** Using a closed socket throws. uWebSockets.js reports every close at once. */
  isOpen = true
  readonly #ws: WebSocket<SocketData>

  constructor(ws: WebSocket<SocketData>) {
    this.#ws = ws
  }

  send({ bytes }: EncodedFrame): boolean {
    if (!this.isOpen) return true
    framesSentMetric.websocket++
    bytesSentMetric.websocket += bytes.length
    // 1: sent. 0: buffered. 2: dropped, which the limits of a session prevent.
    return this.#ws.send(bytes) === 1
  }

  ping(): void {
    if (this.isOpen) this.#ws.ping()
  }

  waitingBytes(): number {
    return this.isOpen ? this.#ws.getBufferedAmount() : 0
  }

  cork(action: () => void): void {
    if (this.isOpen) this.#ws.cork(action)
  }

  close(code: number, reason: string, last: EncodedFrame | null): void {
    if (!this.isOpen) return
    if (last !== null) this.send(last)
    // A close frame that does not fit is dropped, and the socket would stay open.
    if (this.#ws.getBufferedAmount() > maxBackpressure) this.#ws.close()
    else this.#ws.end(code, reason)
  }
}
