/**
 * Listeners behind a proxy: `node crowd.mjs URL SECONDS`. 500 WebSockets that connect again when they are closed, and
 * 20 clients that poll now playing ten times a second. Prints how often each status was answered, and the longest poll,
 * as one line of JSON.
 */
import { setTimeout as pause } from 'node:timers/promises'

import { WebSocket } from 'ws'

const [url = '', seconds = '30'] = process.argv.slice(2)
const sockets = 500
const pollers = 20
const endsAt = performance.now() + Number(seconds) * 1_000
const isOver = () => performance.now() > endsAt
const statuses = {}
const count = name => (statuses[name] = (statuses[name] ?? 0) + 1)
let open = 0
let leastOpen = sockets
let slowestMs = 0

async function follow() {
  while (!isOver()) {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/live/nowplaying/websocket`)
    const timer = setTimeout(() => socket.terminate(), endsAt - performance.now())
    let isOpen = false
    await new Promise(closed => {
      socket.on('open', () => {
        isOpen = true
        open++
        socket.send('{"subs":{"station:demo":{}}}')
      })
      socket.on('error', () => count('socket refused'))
      socket.on('close', closed)
    })
    clearTimeout(timer)
    if (isOpen) open--
    await pause(200 + Math.random() * 800)
  }
}

async function poll() {
  while (!isOver()) {
    const startedAt = performance.now()
    const answer = await fetch(`${url}/api/nowplaying/demo`, { signal: AbortSignal.timeout(20_000) }).catch(
      error => ({
        status: error.cause?.code ?? error.name
      })
    )
    await answer.text?.().catch(() => count('cut'))
    count(answer.status)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    await pause(100)
  }
}

async function watch() {
  const areOpen = () => open === sockets
  while (!isOver() && !areOpen()) await pause(100)
  // The last 500 ms belong to the end of the sockets.
  while (performance.now() < endsAt - 500) {
    leastOpen = Math.min(leastOpen, open)
    await pause(100)
  }
}

await Promise.all([
  watch(),
  ...Array.from({ length: sockets }, follow),
  ...Array.from({ length: pollers }, poll)
])
process.stdout.write(
  `${JSON.stringify({ ...statuses, slowestMs: Math.round(slowestMs), leastOpenSockets: leastOpen })}\n`
)
process.exit(0)
