import { openUwsApp } from '../../src/http/uws.ts'

/**
 * A minimal uWebSockets.js server: `uws-push.ts PORT`. Every socket subscribes to one topic; the body of each
 * POST is published to it.
 */
const topic = 'station'

const app = openUwsApp()
app.ws('/socket', {
  idleTimeout: 28,
  maxBackpressure: 2 * 1024 * 1024,
  open: ws => void ws.subscribe(topic)
})
app.post('/publish', res => {
  const chunks: Buffer[] = []
  res.onAborted(() => {})
  res.onData((chunk, isLast) => {
    chunks.push(Buffer.from(Buffer.from(chunk)))
    if (!isLast) return
    app.publish(topic, Buffer.concat(chunks))
    res.end('ok')
  })
})
app.listen('127.0.0.1', Number(process.argv[2]), token => {
  if (!token) process.exit(1)
  process.once('SIGTERM', () => process.exit())
})
