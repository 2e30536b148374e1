import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'

import { nowMs } from './clock.ts'

/**
 * Sends GET requests at a constant rate, regardless of responses: `poller.ts URL CONNECTIONS RATE SECONDS`.
 * Runs in a process of its own, so that other work does not delay it. Sends the due requests every
 * millisecond, each on a free connection; if none is free, the latency of the request includes the wait.
 * Sends its parent the latencies in milliseconds without those of the first second (warm-up). Exits with an
 * error if a response is not 200.
 */
const [address = '', connections = '1', rate = '1', seconds = '1'] = process.argv.slice(2)
const url = new URL(address)
const request = Buffer.from(`GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`, 'latin1')
const warmUpCount = Number(rate)
const count = warmUpCount + Number(rate) * Number(seconds)
const latencies: number[] = []
const idle: Connection[] = []
const waiting: number[] = []
let sentCount = 0

interface Connection {
  readonly socket: Socket
  sentMs: number
  /** Bytes of the response that have not arrived; null until its headers have. */
  missingBytes: number | null
}

function send(connection: Connection, sentMs: number): void {
  connection.sentMs = sentMs
  connection.missingBytes = null
  connection.socket.write(request)
}

function onBytes(connection: Connection, chunk: Buffer): void {
  connection.missingBytes = (connection.missingBytes ?? parseResponseBytes(chunk)) - chunk.length
  if (connection.missingBytes > 0) return
  if (connection.missingBytes < 0)
    throw new Error(`${address}: the response is longer than its content-length`)
  latencies.push(nowMs() - connection.sentMs)
  const next = waiting.shift()
  if (next === undefined) idle.push(connection)
  else send(connection, next)
  if (latencies.length === count) process.send?.(latencies.slice(warmUpCount), () => process.exit())
}

/** Returns the length of a response. Headers always arrive in one chunk, because they are small. */
function parseResponseBytes(chunk: Buffer): number {
  const headBytes = chunk.indexOf('\r\n\r\n') + 4
  const head = chunk.subarray(0, headBytes).toString('latin1')
  const [, bodyBytes] = /^content-length: *(\d+)/im.exec(head) ?? []
  if (!head.startsWith('HTTP/1.1 200 ') || bodyBytes === undefined)
    throw new Error(`${address}: expected 200 with a content-length, got ${head}`)
  return headBytes + Number(bodyBytes)
}

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(url.port), host: url.hostname, noDelay: true }, resolve)
    const connection: Connection = { socket, sentMs: 0, missingBytes: 0 }
    socket.on('error', reject)
    socket.on('data', chunk => onBytes(connection, chunk))
    idle.push(connection)
  })
}

function sendDue(fromMs: number): void {
  const now = nowMs()
  const due = Math.min(count, ((now - fromMs) / 1_000) * Number(rate))
  for (; sentCount < due; sentCount++) {
    const connection = idle.shift()
    if (connection) send(connection, nowMs())
    else waiting.push(now)
  }
  if (sentCount < count) setTimeout(sendDue, 1, fromMs)
}

await Promise.all(Array.from({ length: Number(connections) }, open))
try {
  // Otherwise the latencies would include waits for other processes on this core.
  setPriority(constants.priority.PRIORITY_HIGHEST)
} catch {
  // Not permitted to all users.
}
sendDue(nowMs())
