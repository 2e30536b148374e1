import { channelOf, subscription, type Way } from './connection.ts'
import type { WebSocketClass, WebSocketLike } from './interface.ts'
import { readFrame } from './message.ts'

/** Follows over a WebSocket. */
export const overWebSocket: Way = (wish, { WebSocket }) => {
  let isOpen = true
  const end = (code: number) => {
    if (!isOpen) return
    isOpen = false
    wish.onEnd({ code })
  }
  const url = new URL('api/live/nowplaying/websocket', wish.server)
  url.protocol = url.protocol.replace('http', 'ws')
  const socket = connect(WebSocket, url.href)
  if (socket === null) {
    queueMicrotask(() => end(0))
    return () => void (isOpen = false)
  }
  socket.addEventListener('open', () => {
    if (isOpen) socket.send(subscription(wish))
  })
  socket.addEventListener('message', ({ data }) => {
    if (isOpen) wish.onMessages(readFrame(String(data), channelOf(wish)))
  })
  // A close event follows every error, and tells more.
  socket.addEventListener('error', () => {})
  socket.addEventListener('close', ({ code }) => end(code))
  return () => {
    isOpen = false
    socket.close()
  }
}

/** Null where there are none, or a page may not have this one: a secure page no insecure one. */
function connect(WebSocket: WebSocketClass | undefined, url: string): WebSocketLike | null {
  try {
    return WebSocket === undefined ? null : new WebSocket(url)
  } catch {
    return null
  }
}
