import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'

import { cutAmbiguous } from '../../http/body.ts'
import { ApiError } from '../../runtime/errors.ts'
import type { Frame } from '../frames.ts'
import type { Hub } from '../hub.ts'
import { maxMessageBytes, maxMessages } from '../protocol.ts'
import type { Session, Transport, NewClient } from '../session.ts'
import {
  type HandshakeOptions,
  acceptConnection,
  fullError,
  readConnectRequest,
  refuseConnection
} from './handshake.ts'

/**
 * The data of a socket from its upgrade on. uWebSockets.js copies it member by member, so it has one member.
 */
interface SocketData {
  readonly connection: Connection
}

/** A client until its socket is open. */
interface PendingClient {
  readonly visitor: NewClient
  /** The subscribe message of `?cf_connect=`; null: the first frame brings it. */
  readonly message: string | null
}

interface Connection {
  arrival: PendingClient | null
  session: Session | null
  /** The second of the newest message, and how many came in it. */
  second: number
  messages: number
}

export const socketPath = '/api/live/nowplaying/websocket'

/** More than a session may have waiting, so that the last frames still fit. */
const maxBackpressure = 2 * 1024 * 1024

/**
 * Serves the live protocol over WebSockets. Must be called before the HTTP routes of `app` are registered.
 */
export function serveSockets(app: TemplatedApp, audience: Hub, door: HandshakeOptions): void {
  app.ws<SocketData>(socketPath, {
    // Longer frames are cut off without a close code, so the limit of the protocol is checked below this one.
    maxPayloadLength: 4 * maxMessageBytes,
    maxBackpressure,
    // A ping after 20 quiet seconds, and the end 8 seconds later.
    idleTimeout: 28,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => upgrade(res, req, context, door),
    open: ws => {
      const { connection } = ws.getUserData()
      const { arrival } = connection
      if (arrival === null) return
      connection.arrival = null
      connection.session = audience.join(new SocketTransport(ws), arrival.visitor)
      if (arrival.message !== null) audience.receive(connection.session, arrival.message)
    },
    message: (ws, message) => {
      const { connection } = ws.getUserData()
      const { session } = connection
      if (session === null) return
      if (message.byteLength > maxMessageBytes) return audience.end(session, 'tooBig')
      if (isFlood(connection)) return audience.end(session, 'tooManyMessages')
      audience.receive(session, Buffer.from(message).toString())
    },
    drain: ws => {
      const { session } = ws.getUserData().connection
      if (session !== null) audience.drained(session)
    },
    close: ws => {
      const { session } = ws.getUserData().connection
      if (session === null) return
      if (session.transport instanceof SocketTransport) session.transport.isOpen = false
      audience.leave(session)
    }
  })
}

function upgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  door: HandshakeOptions
): void {
  if (cutAmbiguous(res, req)) return
  const arrival = acceptUpgrade(res, req, door)
  if (arrival === null) return
  const connection: Connection = { arrival, session: null, second: 0, messages: 0 }
  res.upgrade<SocketData>(
    { connection },
    req.getHeader('sec-websocket-key'),
    req.getHeader('sec-websocket-protocol'),
    req.getHeader('sec-websocket-extensions'),
    context
  )
}

/** Null if the client was refused. */
function acceptUpgrade(res: HttpResponse, req: HttpRequest, door: HandshakeOptions): PendingClient | null {
  try {
    const knock = readConnectRequest(res, req, door)
    const visitor = acceptConnection(knock, door.admission)
    if (typeof visitor === 'string') throw fullError(visitor)
    return { visitor, message: knock.message }
  } catch (error) {
    refuseConnection(
      res,
      error instanceof ApiError ? error : new ApiError('internal'),
      req.getHeader('origin')
    )
    return null
  }
}

function isFlood(connection: Connection): boolean {
  const second = Math.floor(performance.now() / 1000)
  connection.messages = second === connection.second ? connection.messages + 1 : 1
  connection.second = second
  return connection.messages > maxMessages
}

/**
 * A WebSocket. Using a closed one throws; uWebSockets.js reports every close at once. A class, because there
 * are very many: its functions exist once.
 */
class SocketTransport implements Transport {
  isOpen = true
  readonly #ws: WebSocket<SocketData>

  constructor(ws: WebSocket<SocketData>) {
    this.#ws = ws
  }

  send({ bytes }: Frame): boolean {
    // 1: sent; 0: on its way; 2: dropped, which the limits of a session do not let happen.
    return this.isOpen ? this.#ws.send(bytes) === 1 : true
  }

  waitingBytes(): number {
    return this.isOpen ? this.#ws.getBufferedAmount() : 0
  }

  cork(action: () => void): void {
    if (this.isOpen) this.#ws.cork(action)
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return
    // A close frame that does not fit is dropped, and the socket would linger.
    if (this.#ws.getBufferedAmount() > maxBackpressure) this.#ws.close()
    else this.#ws.end(code, reason)
  }
}
