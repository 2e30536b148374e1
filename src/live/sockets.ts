import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js'

import { ApiError, renderError } from '../errors.ts'
import type { Audience } from './audience.ts'
import { maxMessageBytes, parseSubscribe } from './protocol.ts'
import { endSession, type Session, type Transport } from './session.ts'

/** What a socket carries from its upgrade on. */
interface SocketData {
  readonly key: string
  /** The subscribe message of `?cf_connect=`; null: the first frame brings it. */
  readonly message: string | null
  session: Session | null
  isOpen: boolean
}

export const socketPath = '/api/live/nowplaying/websocket'

/** More than a session may have waiting, so that the last frames still go in. */
const maxBackpressure = 2 * 1024 * 1024

/** Serves the live protocol over WebSockets. Must be called before the HTTP routes of `app` are registered. */
export function serveSockets(app: TemplatedApp, audience: Audience): void {
  app.ws<SocketData>(socketPath, {
    // Longer frames are cut off without a close code, so the limit of the protocol is checked below this one.
    maxPayloadLength: 4 * maxMessageBytes,
    maxBackpressure,
    // A ping after 20 quiet seconds, and the end 8 seconds later.
    idleTimeout: 28,
    sendPingsAutomatically: true,
    upgrade,
    open: ws => {
      const data = ws.getUserData()
      data.session = audience.join(transportOf(ws), data.key)
      if (data.message !== null) audience.receive(data.session, data.message)
    },
    message: (ws, message) => {
      const { session } = ws.getUserData()
      if (session === null) return
      if (message.byteLength > maxMessageBytes) {
        endSession(session, 'tooBig')
        return
      }
      audience.receive(session, Buffer.from(message).toString())
    },
    drain: ws => {
      const { session } = ws.getUserData()
      if (session !== null) audience.drained(session)
    },
    close: ws => {
      const data = ws.getUserData()
      data.isOpen = false
      const { session } = data
      if (session !== null) audience.leave(session)
    }
  })
}

function upgrade(res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void {
  const query = new URLSearchParams(req.getQuery() ?? '')
  const message = query.get('cf_connect')
  if (message !== null && parseSubscribe(message) === 'badRequest') return refuse(res)
  const data: SocketData = {
    key: req.getHeader('x-api-key') || bearerOf(req) || (query.get('api_key') ?? ''),
    message,
    session: null,
    isOpen: true
  }
  res.upgrade(
    data,
    req.getHeader('sec-websocket-key'),
    req.getHeader('sec-websocket-protocol'),
    req.getHeader('sec-websocket-extensions'),
    context
  )
}

function refuse(res: HttpResponse): void {
  res.writeStatus('400 Bad Request')
  res.writeHeader('Content-Type', 'application/json; charset=utf-8')
  res.writeHeader('Access-Control-Allow-Origin', '*')
  res.end(renderError(new ApiError('invalid', 'cf_connect is not a subscribe message.')))
}

function bearerOf(req: HttpRequest): string {
  return /^bearer +(\S+)\s*$/i.exec(req.getHeader('authorization'))?.[1] ?? ''
}

/** A WebSocket as a session sees it. Any use of a closed one throws; uWebSockets.js tells of every close at once. */
function transportOf(ws: WebSocket<SocketData>): Transport {
  const data = ws.getUserData()
  return {
    send: frame => {
      if (data.isOpen) ws.send(frame)
    },
    waitingBytes: () => (data.isOpen ? ws.getBufferedAmount() : 0),
    cork: action => {
      if (data.isOpen) ws.cork(action)
    },
    close: (code, reason) => {
      if (!data.isOpen) return
      // A close frame that does not fit is dropped, and the socket would linger.
      if (ws.getBufferedAmount() > maxBackpressure) ws.close()
      else ws.end(code, reason)
    }
  }
}
