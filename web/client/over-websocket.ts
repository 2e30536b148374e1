import { channelOf, subscription, type Way } from './connection.ts'
import { readFrame } from './message.ts'

/** Follows over a WebSocket. */
export const overWebSocket: Way = (wish, { WebSocket }) => {
  let isOpen = true
  const end = (code: number) => {
    if (!isOpen) return
    isOpen = false
    wish.onEnd({ code })
  }
  if (WebSocket === undefined) {
    queueMicrotask(() => end(0))
    return () => void (isOpen = false)
  }
  const url = new URL('api/live/nowplaying/websocket', wish.server)
  url.protocol = url.protocol.replace('http', 'ws')
  const socket = new WebSocket(url.href)
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
